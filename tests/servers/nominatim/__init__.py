"""A server in the formats of Nominatim, over the addresses and places of a town."""
