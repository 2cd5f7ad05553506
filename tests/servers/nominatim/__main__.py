from servers.command import serve_map
from servers.nominatim.app import DEFAULT_PORT

serve_map("nominatim", DEFAULT_PORT)
