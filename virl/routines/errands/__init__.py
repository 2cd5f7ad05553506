"""Errands: where they are, and the best order to run them in. Described in `docs/explanation/agents.md`."""
