"""Files on disk: whole ones, growing ones, stores, pictures and JSON from outside."""
