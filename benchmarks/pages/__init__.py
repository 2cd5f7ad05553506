"""Pages that show what agents did, episode by episode."""
