"""Choose which of four intentions the place in a photo serves (V-IRL, section 5.3)."""
