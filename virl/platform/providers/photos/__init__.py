"""Cities made of geotagged photographs of one's own."""
