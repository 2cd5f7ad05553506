from servers.command import serve_pictures
from servers.panoramax.app import DEFAULT_PORT, make_app

serve_pictures("panoramax", DEFAULT_PORT, make_app, "flat", "tilt", "width", "deleted", "relicensed")
