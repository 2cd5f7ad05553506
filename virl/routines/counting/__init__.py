"""Counting street furniture along a walk, each thing once. Described in `docs/explanation/agents.md`."""
