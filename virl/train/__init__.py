"""Training of virl's own models; needs the extra `train`."""
