"""Follow written directions to a place by sight (V-IRL, section 5.4)."""
