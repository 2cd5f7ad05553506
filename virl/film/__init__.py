"""Films of recorded runs: what the agent saw, its path on the map, and words."""
