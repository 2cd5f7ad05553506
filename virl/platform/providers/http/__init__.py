"""What providers that are asked over HTTP share: money, cache, pace, faults, keys and recordings."""
