"""How well Hiro explores; described in `docs/exploration.md`."""
