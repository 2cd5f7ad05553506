"""Walks of discrete actions on a navigation graph: forward, left, right, turn around, stop."""
