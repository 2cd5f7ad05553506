"""The page of a town: its map, statistics and a few views."""
