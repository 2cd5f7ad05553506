"""A server in the formats of OSRM, over the ways of a town."""
