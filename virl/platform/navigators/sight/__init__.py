"""Reaching what is known by its name, its look or what it is good for, by sight alone, without a map."""
