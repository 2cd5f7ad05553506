"""V-IRL place localization (section 5.1): which places are found in street view, and as what."""
