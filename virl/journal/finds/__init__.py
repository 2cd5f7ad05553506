"""What a counting run has found, for its report: the things, their views, and how they are spread."""
