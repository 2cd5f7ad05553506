"""What several models are made of: boxes, labels, phrases, noise, and what their settings share."""
