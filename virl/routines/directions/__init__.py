"""Giving directions on foot: a walk is planned and previewed, and told by what one sees on it."""
