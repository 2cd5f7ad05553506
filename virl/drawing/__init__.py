"""The exhibits of a result laid out for the report's page."""
