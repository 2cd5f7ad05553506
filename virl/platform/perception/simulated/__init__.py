"""A simulated detector: the ground truth of a made city, seen through a stated noise model."""
