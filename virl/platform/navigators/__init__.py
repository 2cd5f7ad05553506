"""Navigators: what decides the next step, and when to stop."""
