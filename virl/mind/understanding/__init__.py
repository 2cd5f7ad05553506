"""What the rules understand of a text, and what they do not."""
