"""The panorama graph of a whole city, for scoring and for what stands in for a drive through it."""

import numpy as np

from virl.errors import BadInput
from virl.platform.city.city import City
from virl.platform.city.graph import NavigationGraph, build_graph


def whole_graph(city: City) -> NavigationGraph:
    """Return the graph of all panoramas of a city that is held whole.

    Raises:
        BadInput: it does not.
    """
    if city.street_map is None:
        raise BadInput(f"not all panoramas of {city.name} are known: choose a made town or a map extract")
    found = [city.streetview.panorama(name) for name in city.street_map.panorama_ids()]
    number = {panorama.id: index for index, panorama in enumerate(found)}
    links = [(number[one.id], number[link.pano_id]) for one in found for link in one.links]
    ends = np.array(links, np.int64).reshape(-1, 2)
    lat, lng = np.array([one.position for one in found], float).T
    return build_graph([one.id for one in found], lat, lng, ends[:, 0], ends[:, 1])
