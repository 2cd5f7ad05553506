"""The kinds of inputs, by where they come from; each module opens its own."""
