"""The `point` navigator: to one or many destinations, in order."""
