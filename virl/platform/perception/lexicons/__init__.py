"""Lexicons, one module a kind: `sign_lexicon.py` holds `sign-lexicon`."""
