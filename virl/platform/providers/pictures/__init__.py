"""Street-level pictures that people share: chosen, placed on streets and linked to a graph."""
