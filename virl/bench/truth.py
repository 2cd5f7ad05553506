"""The ground truth that a benchmark scores against."""

from virl.errors import BadInput
from virl.platform.city.city import City, Truth


def truth_of(city: City) -> Truth:
    """Return the ground truth of a made city.

    Raises:
        BadInput: the city has none.
    """
    if city.truth is None:
        raise BadInput(f"{city.title} has no ground truth: choose a made city, such as virlton")
    return city.truth
