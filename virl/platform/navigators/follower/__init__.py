"""The follower: a grammar of instructions and a reading of streets; no model, no images."""
