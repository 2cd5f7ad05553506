"""A town, an agent, a detector and a benchmark for virl."""
