"""The plan of a town: what stands in it, and how a made town is laid out."""
