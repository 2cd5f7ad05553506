"""What a view shows of the ground, looked at from above: marked crossings, and how wide pavements are."""
