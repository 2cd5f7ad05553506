"""What is made of records: results as JSON, CSV and LaTeX, a table for the terminal, and a page."""
