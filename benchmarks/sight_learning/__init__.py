"""The benchmark `sight-learning`: searches for a kind of place by its sign, as steps of an environment."""
