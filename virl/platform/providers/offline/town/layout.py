"""The street layout of a made city: the same seed gives the same plan, byte for byte."""

import numpy as np
import shapely
from numpy.random import PCG64, Generator, SeedSequence

from virl.geo import LatLng, LocalFrame
from virl.platform.providers.offline.plan import Panoramas, StreetPlan
from virl.platform.providers.offline.town.blocks import divide_ground
from virl.platform.providers.offline.town.furnish import furnish
from virl.platform.providers.offline.town.kerb import Kerbs
from virl.platform.providers.offline.town.streets import Network, draw_streets

ORIGIN = LatLng(41.25, -38.75)  # the open Atlantic, so that no one takes the city for a real one
SPACING_M = 10.0  # between panoramas, as in Street View


def lay_out(seed: int) -> StreetPlan:
    """Lays out streets, blocks, buildings and street furniture.

    Args:
        seed: any non-negative integer.
    """
    streets_rng, ground_rng, furniture_rng = (
        Generator(PCG64(child)) for child in SeedSequence(seed).spawn(3)
    )
    network = draw_streets(streets_rng)
    kerbs = Kerbs(network)
    ground = divide_ground(ground_rng, network, kerbs)
    return StreetPlan(
        frame=LocalFrame(ORIGIN),
        streets=network.streets,
        junctions=network.junctions,
        panoramas=place_panoramas(network),
        blocks=ground.blocks,
        parks=ground.parks,
        buildings=ground.buildings,
        frontages=ground.frontages,
        furniture=furnish(furniture_rng, kerbs, ground.parks, ground.frontages),
    )


def place_panoramas(network: Network) -> Panoramas:
    """Puts a panorama on each junction, in the order of the junctions, then more along each street."""
    xy, street = [network.junctions], [np.zeros(len(network.junctions), dtype=np.int64)]
    chains = []
    count = len(network.junctions)
    for one in network.streets:
        line = shapely.LineString(one.line)
        pieces = max(1, round(line.length / SPACING_M))
        inner = shapely.line_interpolate_point(line, np.arange(1, pieces) / pieces, normalized=True)
        xy.append(np.round(shapely.get_coordinates(inner), 3))
        street.append(np.full(pieces - 1, one.id))
        street[0][[one.start, one.end]] = one.id
        chains.append(np.array([one.start, *range(count, count + pieces - 1), one.end]))
        count += pieces - 1
    ahead = np.concatenate([chain[:-1] for chain in chains])
    behind = np.concatenate([chain[1:] for chain in chains])
    source, target = np.concatenate([ahead, behind]), np.concatenate([behind, ahead])
    order = np.lexsort((target, source))
    return Panoramas(np.concatenate(xy), np.concatenate(street), source[order], target[order])
