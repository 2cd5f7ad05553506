"""Following directions by sight, and asking again when lost: what Ling does."""
