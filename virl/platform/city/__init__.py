"""Contracts and value types of a city: imagery, places, ways, and the city itself."""
