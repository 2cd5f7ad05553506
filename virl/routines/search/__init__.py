"""Searching by sight for a place, without a map. Described in `docs/explanation/sight.md`."""
