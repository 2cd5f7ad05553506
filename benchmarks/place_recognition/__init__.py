"""Recognize the type of the place in a photo, out of 96 (V-IRL, section 5.2)."""
