"""Walk through a city, step by step or as a navigator decides."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from virl.errors import BadInput, UnknownName
from virl.geo.globe import LatLng
from virl.geo.region import Region
from virl.mind.base import Mind, costs
from virl.mind.open import open_mind
from virl.mind.prompt import OUR_PROMPTS
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.locate import locate
from virl.platform.city.starts import start_near
from virl.platform.city.streetview import Pose
from virl.platform.movers.base import Mover, Step
from virl.platform.movers.open_mover import fit_mover, open_mover
from virl.platform.navigators.point import PointNavigator, plan_route
from virl.platform.navigators.region import RegionNavigator
from virl.platform.navigators.tourist.navigator import MAX_STEPS as TOURIST_STEPS
from virl.platform.navigators.tourist.navigator import TouristNavigator
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers.cities import open_city
from virl.resources import cache_home
from virl.routines.directions.following.routine import open_spotter
from virl.settings.region_file import read_region

Spot = str | LatLng
"""A spot in a city: an address, the name of a place, or a position."""

MAX_STEPS = 500


def walk(
    city: City,
    *,
    start: Spot,
    to: Spot | Sequence[Spot],
    mover: str | None = None,
    max_steps: int = MAX_STEPS,
) -> Iterator[Step]:
    """Yield the steps of a walk along the street graph to one destination, or to several in turn.

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
    return _walk_by(
        lambda moving: PointNavigator(city.streetview, moving, plan, max_steps=max_steps),
        city,
        Pose(begin.id, begin.heading),
        fit_mover(city, begin, mover).name,
    )


def _walk_by(
    navigator: Callable[[Mover], PointNavigator | TouristNavigator], city: City, start: Pose, mover: str
) -> Iterator[Step]:
    """Open the mover of this name, make a navigator for it, and yield the navigator's steps from `start`."""
    with open_mover(mover, city.streetview) as opened:
        yield from navigator(opened).walk(start)


def position_of(city: City, spot: Spot, near: LatLng | None = None) -> LatLng:
    """Return a spot's position; a place's name means the best match, preferably near `near`, if given.

    Args:
        city: that knows addresses and places.
        spot: a text or a position.
        near: position near which a place is preferred; `None` for no preference.

    Raises:
        NotFound: there is no such address or place.
    """
    return locate(city, spot, near)[1] if isinstance(spot, str) else spot


READER = "sign-reader"
"""Name of the perception model that reads signs."""
NAVIGATORS = {"instruction": "text", "point": "to", "region": "region"}
"""Name of the argument of `navigate` that says where to go, such as `to`, by the navigator's name."""


def navigate(  # noqa: PLR0913 - keywords
    navigator: str,
    *,
    city: str | City,
    start: Spot,
    text: str | None = None,
    to: Spot | list[Spot] | None = None,
    region: Region | str | Path | None = None,
    heading: float | None = None,
    mind: str | Mind = "rules",
    spotter: str = "ocr",
    mover: str | None = None,
    max_steps: int = TOURIST_STEPS,
    budget_usd: float | None = None,
) -> Iterator[Step]:
    """Yield the steps of a walk that a navigator decides, one at a time.

    A step says where the walker stands (`step.pose`, `step.panorama`), how far it came (`step.distance`,
    metres), and what it does next and why (`step.choice`). It is taken when you ask for the next one. A city
    that is opened here by its name is closed at the end of the walk.

    Args:
        navigator: `"instruction"` follows directions in words by what is seen, `"point"` goes along the
            streets to one place or several, and `"region"` visits every panorama of an area.
        city: open, or its name or file.
        start: an address, the name of a place, or a position.
        text: the directions, for `"instruction"`.
        to: the destination or destinations, for `"point"`.
        region: the area, or the file of its outline, for `"region"`.
        heading: degrees clockwise from north, faced at the start of `"instruction"`; by default those of the
            panorama.
        mind: decides for `"instruction"`: such as `"openai:gpt-5-mini"`, or an open mind.
        spotter: finds landmarks for `"instruction"`: `"ocr"`, or a recognizer or describer by name.
        mover: `"links"`, `"grid"`, `"web"` or `"hybrid"`; by default one that fits the city. `"region"` has
            none.
        max_steps: maximum number of moves.
        budget_usd: US dollars that a mind given by name may cost at most.

    Raises:
        UnknownName: there is no such navigator, city, mind or spotter.
        BadInput: what the navigator needs to know is missing, or something else is given.
        NotFound: there is no such address or place.
        NoStreetView: there is no panorama within 800 m of the start.
        MindFailed, ModelUnavailable, BudgetExceeded: during the walk, of the mind.

    Examples:
        >>> first = next(virl.navigate("point", city=town, start=town.center, to="20 Vine Road"))
        >>> first.index
        0
    """
    if navigator not in NAVIGATORS:
        raise UnknownName("navigator", navigator, list(NAVIGATORS))
    for name, given in {"text": text, "to": to, "region": region}.items():
        if (given is not None) != (name == NAVIGATORS[navigator]):
            fault = "needs" if given is None else "takes no"
            raise BadInput(f"navigator {navigator!r} {fault} {name}: give it {NAVIGATORS[navigator]}=")
    with ExitStack() as opening:
        if isinstance(city, str):
            city = open_city(city)
            opening.callback(city.close)
        begin = start_near(city, position_of(city, start), "the start")
        if text is not None:
            if isinstance(mind, str):
                mind = open_mind(mind, cache_dir=cache_home() / "replies", ledger=Ledger(budget_usd))
            pose = Pose(begin.id, begin.heading if heading is None else heading % 360.0)
            models = Models(ModelOptions(truth=city.truth))
            found = open_spotter(spotter, READER, city, models, mind, OUR_PROMPTS)
            view, sparing = city.streetview, costs(mind)
            steps = _walk_by(
                lambda moving: TouristNavigator(
                    view, moving, mind, found, text, max_steps=max_steps, sparing=sparing
                ),
                city,
                pose,
                fit_mover(city, begin, mover).name,
            )
        elif to is not None:
            steps = walk(city, start=start, to=to, mover=mover, max_steps=max_steps)
        elif region is not None:
            area = region if isinstance(region, Region) else read_region(Path(region), near=city.center)
            survey = RegionNavigator(city.streetview, area)
            steps = islice(survey.walk(Pose(begin.id, begin.heading)), max_steps + 1)
        return _close_after(steps, opening.pop_all())


def _close_after(steps: Iterator[Step], opened: ExitStack) -> Iterator[Step]:
    """Yield the steps; close `opened` after the last one, or when the caller stops early."""
    with opened:
        yield from steps
