"""One page that shows finished runs side by side. Described in `docs/how-to/run-agents.md`."""
