"""Senses: reading, detecting, looking closer, matching what is seen to places."""
