"""A server in the formats of Panoramax (GeoVisio's STAC API), with the pictures of drives through a town."""
