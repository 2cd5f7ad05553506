"""V-IRL's vision-and-language navigation (section 5.4): follow directions to a place, by sight."""
