from servers.command import serve_map
from servers.osrm.app import DEFAULT_PORT

serve_map("osrm", DEFAULT_PORT)
