"""The panorama graph of a whole city, for scoring and for what stands in for a drive through it."""

import numpy as np

from virl.platform.city import City
from virl.platform.graph import NavigationGraph, build_graph
from virl.platform.networks import held_street_map


def whole_graph(city: City) -> NavigationGraph:
    """The panorama graph of a city that knows all its panoramas.

    Raises:
        BadInput: it does not.
    """
    found = [city.streetview.panorama(name) for name in held_street_map(city).panorama_ids()]
    number = {panorama.id: index for index, panorama in enumerate(found)}
    links = [(number[one.id], number[link.pano_id]) for one in found for link in one.links]
    ends = np.array(links, np.int64).reshape(-1, 2)
    lat, lng = np.array([one.position for one in found], float).T
    return build_graph([one.id for one in found], lat, lng, ends[:, 0], ends[:, 1])
