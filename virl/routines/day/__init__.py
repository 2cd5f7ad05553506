"""A day planned for a client: drafted, held against the city, estimated, audited, mended."""
