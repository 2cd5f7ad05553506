"""What the servers of open maps share."""
