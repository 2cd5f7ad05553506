"""The order in which to visit many positions."""
