"""Models measured on labelled views of a made town: speed, memory, precision and recall."""
