"""Finding a home to rent: listings within districts and prices, what is near each, and the ranking."""
