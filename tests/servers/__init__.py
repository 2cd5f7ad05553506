"""Stand-ins for the servers of open pictures and maps, which serve a made town or an extract on this machine.

    PYTHONPATH=tests python -m servers.panoramax --city virlton

serves until it is interrupted, and prints its URL. `mapillary`, `overpass`, `nominatim` and `osrm` do so too.
Tests serve from a thread: `servers.town.served_open` starts four of them at once.
"""
