"""How well Hiro explores; described in `docs/explanation/agent-results.md`."""
