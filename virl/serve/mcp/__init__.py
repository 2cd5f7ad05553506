"""A server of the Model Context Protocol: any of its clients may act in a city.

Described in `docs/how-to/serve-mcp.md`.
"""
