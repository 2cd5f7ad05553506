"""Searches by sight: reach a place known by name, look, picture or as a wish, without a map or directions."""
