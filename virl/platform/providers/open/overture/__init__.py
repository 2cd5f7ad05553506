"""Places of Overture Maps, read from its GeoParquet files."""
