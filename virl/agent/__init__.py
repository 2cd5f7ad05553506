"""Characters, what they are put together with, and their runs."""
