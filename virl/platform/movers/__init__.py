"""Movers: which links leave a pose, and how one is taken."""
