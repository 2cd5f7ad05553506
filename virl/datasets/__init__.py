"""Data sets: collected from cities, and exported from them."""
