"""Score how well Hiro finds a place, against a random walker and an oracle (V-IRL, section 3.3).

Described in `docs/explanation/agent-results.md`.
"""
