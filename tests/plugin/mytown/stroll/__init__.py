"""The routine `stroll`, and Mina, who follows it."""
