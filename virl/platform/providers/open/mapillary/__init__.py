"""Mapillary: street-level pictures over its Graph API, with a free token."""
