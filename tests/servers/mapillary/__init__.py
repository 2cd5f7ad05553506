"""A server in the formats of Mapillary's Graph API, with the pictures of drives through a town."""
