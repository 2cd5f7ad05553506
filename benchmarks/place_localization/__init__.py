"""Find places in street view, each with its type (V-IRL, section 5.1)."""
