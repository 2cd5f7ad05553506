from servers.command import serve_pictures
from servers.mapillary.app import DEFAULT_PORT, make_app

serve_pictures("mapillary", DEFAULT_PORT, make_app, "flat", "tilt", "width", "deleted", "expired", "most")
