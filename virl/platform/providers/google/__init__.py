"""Google Maps Platform as a provider of street view, places and maps."""
