"""Positions on the globe, regions of it, and lines on flat ground."""
