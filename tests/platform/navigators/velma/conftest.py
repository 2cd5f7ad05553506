import pytest

from virl.geo.globe import LatLng, destination
from virl.platform.city.graph import build_graph

STEP_M = 10.0
PLACES = {
    "s3": (0, -3),
    "s2": (0, -2),
    "s1": (0, -1),
    "c": (0, 0),
    "n1": (0, 1),
    "n2": (0, 2),
    "e1": (1, 0),
    "w1": (-1, 0),
}
STREETS = [("s3", "s2"), ("s2", "s1"), ("s1", "c"), ("c", "n1"), ("n1", "n2"), ("c", "e1"), ("c", "w1")]
HEADINGS = {(0, 1): 0.0, (1, 0): 90.0, (0, -1): 180.0, (-1, 0): 270.0}


@pytest.fixture(scope="session")
def crossing():
    """A street from south to north, with a crossing in the middle; the camera car drove north."""
    origin = LatLng(40.72, -74.0)
    at = {
        name: destination(destination(origin, 90, east * STEP_M), 0, north * STEP_M)
        for name, (east, north) in PLACES.items()
    }
    ids = list(PLACES)
    both = [*STREETS, *((b, a) for a, b in STREETS)]
    heading = [HEADINGS[PLACES[b][0] - PLACES[a][0], PLACES[b][1] - PLACES[a][1]] for a, b in both]
    return build_graph(
        ids,
        [at[name].lat for name in ids],
        [at[name].lng for name in ids],
        [ids.index(a) for a, _ in both],
        [ids.index(b) for _, b in both],
        heading,
        yaw=[0.0] * len(ids),
    )
