"""Reach a place known by name, look, picture or as a wish, with no map and no directions."""
