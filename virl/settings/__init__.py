"""Files that people write: YAML read into pydantic models, each fault with its file, line and field."""
