"""OpenStreetMap as data: extracts, its tags as places, hours, streets and houses, and the plan of a town."""
