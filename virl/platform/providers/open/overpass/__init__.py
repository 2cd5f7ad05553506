"""Places from Overpass, a server of what is mapped in OpenStreetMap."""
