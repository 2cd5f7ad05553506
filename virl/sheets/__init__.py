"""Pages about towns and about a user's own photographs."""
