"""Lexicons: what the words on a sign say of the place behind it."""
