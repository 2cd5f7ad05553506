"""The `region` navigator: every panorama of a polygon, in a short order."""
