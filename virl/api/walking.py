"""Walk through a city, step by step."""

from collections.abc import Iterator, Sequence

from virl.errors import BadInput
from virl.geo.globe import LatLng
from virl.platform.city.city import City
from virl.platform.city.locate import locate
from virl.platform.city.starts import start_near
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Step
from virl.platform.movers.open_mover import fit_mover, open_mover
from virl.platform.navigators.point import PointNavigator, PointPlan, plan_route

Spot = str | LatLng
"""An address or the name of a place, or a position."""

MAX_STEPS = 500


def walk(
    city: City,
    *,
    start: Spot,
    to: Spot | Sequence[Spot],
    mover: str | None = None,
    max_steps: int = MAX_STEPS,
) -> Iterator[Step]:
    """Yield the steps of a walk along the street graph to one destination, or to several in their order.

    A step says where the walker stands (`step.pose`, `step.panorama`), how far it came (`step.distance`,
    metres) and what it does next (`step.choice`). No view is made unless you ask: `city.look(step.pose)` is
    the view ahead, `city.look(step.pose, heading)` any other. A step is taken when you ask for the next one,
    so you may stop at any time.

    Args:
        city: open.
        start: an address, the name of a place, or a position.
        to: where to go: one of these, or a list of them.
        mover: `"links"`, `"grid"`, `"web"` or `"hybrid"`; by default what fits the city.
        max_steps: moves from panorama to panorama at most.

    Raises:
        NotFound: there is no such address or place.
        NoStreetView: there is no panorama within 800 m of the start.
        BadInput: `to` is empty, or no destination can be walked to.

    Examples:
        >>> first = next(virl.walk(town, start=town.center, to="20 Vine Road"))
        >>> first.index
        0
    """
    begin = start_near(city, position_of(city, start), "the start")
    asked = [to] if isinstance(to, str | LatLng) else list(to)
    plan = plan_route(
        city.streetview, city.maps, begin.position, [position_of(city, one, begin.position) for one in asked]
    )
    if not plan.goals:
        raise BadInput(f"no way leads to {asked[0]}: {plan.unplanned[0][1]}")
    chosen = fit_mover(city, begin, mover).name
    return _walk_steps(city, Pose(begin.id, begin.heading), plan, chosen, max_steps)


def _walk_steps(city: City, start: Pose, plan: PointPlan, mover: str, max_steps: int) -> Iterator[Step]:
    """Yield the steps of a walk along a plan, up to `max_steps`."""
    with open_mover(mover, city.streetview) as opened:
        yield from PointNavigator(city.streetview, opened, plan, max_steps=max_steps).walk(start)


def position_of(city: City, spot: Spot, near: LatLng | None = None) -> LatLng:
    """Return the position of an address, a place or a position.

    Args:
        city: that knows addresses and places.
        spot: a text or a position.
        near: prefer what is near; `None` for no preference.

    Raises:
        NotFound: there is no such address or place.
    """
    return locate(city, spot, near)[1] if isinstance(spot, str) else spot
