"""A server in the formats of the Overpass API, over what an extract or a made town holds."""
