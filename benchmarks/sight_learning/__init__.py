"""Learning to find a kind of place by its sign: a benchmark on `virl/Sight-v0`, and a learner."""
