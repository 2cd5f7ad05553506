"""Narrating a finished walk: an instruction that would lead along it, and its drawing from above."""
