"""Who lives in the town: shops with names, signs, hours and reviews."""
