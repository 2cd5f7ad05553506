"""RentCast: homes to rent, from its API or from a file of its records."""
