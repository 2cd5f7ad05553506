"""The city as an agent meets it: contracts, providers, senses, movement."""
