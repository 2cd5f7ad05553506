"""How well the agents do what they are for, against the ground truth of a made city."""
