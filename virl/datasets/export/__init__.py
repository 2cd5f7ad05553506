"""A made city written out as a benchmark: its street network, and episodes with their gold paths."""
