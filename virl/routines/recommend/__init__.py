"""Recommending a place: candidates within reach, each weighed, the best one picked."""
