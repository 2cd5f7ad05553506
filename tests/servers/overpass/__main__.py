from servers.command import serve_map
from servers.overpass.app import DEFAULT_PORT

serve_map("overpass", DEFAULT_PORT, "remark", "most_km2")
