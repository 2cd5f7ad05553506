"""Observations put into words from the made city's pictures."""

import pytest

from virl.platform.city.graph import NavigationGraph, build_graph
from virl.platform.city.streetview import Camera
from virl.platform.navigators.navgpt.observation import SECTOR_DEG, sector
from virl.platform.navigators.navgpt.sources import VIEW_FOV, DescribedObservations
from virl.platform.perception.senses import open_senses
from virl.platform.providers import open_city

LARGE = 6000  # pixels of a sign that is easily read


def graph_of(city) -> NavigationGraph:
    panoramas = [city.streetview.panorama(name) for name in city.street_map.panorama_ids()]
    number = {panorama.id: index for index, panorama in enumerate(panoramas)}
    links = [(number[one.id], number[link.pano_id]) for one in panoramas for link in one.links]
    positions = zip(*(panorama.position for panorama in panoramas), strict=True)
    return build_graph(list(number), *positions, *zip(*links, strict=True))


def first_large_sign(city):
    """A panorama, a sector and the words of a sign that stands large in it."""
    for name in city.street_map.panorama_ids()[::7]:
        for index in range(8):
            for seen in city.truth.visible(name, Camera(index * SECTOR_DEG, fov=VIEW_FOV), LARGE):
                if seen.kind == "sign" and seen.visible_fraction > 0.95 and seen.label.isascii():
                    return name, index, seen.label
    return pytest.fail("no large sign in the made city")


@pytest.mark.slow
def test_a_sign_is_told_in_the_direction_where_it_hangs():
    city = open_city("virlton")
    graph = graph_of(city)
    name, index, label = first_large_sign(city)
    observation = DescribedObservations(graph, city.streetview, open_senses().describer).at(name)
    assert len(observation.sentences) == 8
    assert any(word in observation.sentences[index] for word in label.split())
    for way, link in zip(observation.ways, city.streetview.panorama(name).links, strict=True):
        assert (way.pano_id, sector(way.heading)) == (link.pano_id, sector(link.heading))
