"""The provider `two-streets`, and its city Crossville."""
