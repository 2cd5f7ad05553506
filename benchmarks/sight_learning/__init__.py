"""Search for a kind of shop by its sign, step by step, in an environment of Gymnasium."""
