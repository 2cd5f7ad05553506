"""Working for a client: what several routines share."""
