"""Claims that agents make at the end of their runs, and what is true of them in a town that virl draws.

An agent makes its claims by what it has seen and read. They are checked once its run has ended: what is true
is written into `result.json` and the report, and reaches no prompt, no tool and no record of a journal.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeVar

import numpy as np
from pydantic import Field

from virl.geo.globe import LatLng, distance, distances
from virl.pages.numbers import count_noun
from virl.platform.city.city import City, Thing, Truth
from virl.platform.city.inventory import Inventory
from virl.platform.city.places import Place, moment_in_words

_ItemT = TypeVar("_ItemT", Thing, Place)
ARRIVED_M = 25.0
"""Largest distance in metres at which an agent has arrived at a place (V-IRL's)."""
IN_SIGHT_M = 20.0
"""Radius in metres around each position where an agent looked, within which things count (V-IRL's)."""
FAR_SIGHT_M = 80.0
"""Radius in metres within which a thing may be among those seen in one look; chosen: as detectors find it."""
BESIDE_M = 14.0
"""Largest distance in metres between neighbouring places; chosen: shop fronts are 6 to 12 m wide."""
SAME_M = 5.0
"""Largest distance in metres between a reported thing and the true one; chosen: near enough to be found."""
SAME_MIN = 1.0
"""Largest difference in minutes between a claimed and the true time on foot for the claim to hold; chosen."""


@dataclass(frozen=True, slots=True)
class ArrivalClaim:
    """A claim that a walk or its directions ended at a place, or that it did not."""

    sought: str
    """Name of the place that was sought, or words for its type."""
    stood: LatLng
    """Position where the walk ended."""
    arrived: bool = True
    """True if the claim is to have arrived, False if it is not to have arrived."""
    at: LatLng | None = None
    """Position that was sought, where it is no named place; `None` for a place by name or types."""
    types: tuple[str, ...] = ()
    """Place types, one of which is sought; empty where the place is sought by its name."""
    beside: tuple[str, ...] = ()
    """Place types that must each have an open place beside the sought one; empty for none."""
    within_m: float = ARRIVED_M
    """Largest distance in metres from the end of the walk to the place for the walk to have arrived."""
    kind: Literal["arrival"] = "arrival"


@dataclass(frozen=True, slots=True)
class PlaceClaim:
    """A claim that a place has the type, attributes and opening hours that were wished for."""

    place_id: str
    """Id of the place that the claim is about."""
    name: str
    """Name of the place."""
    types: tuple[str, ...] = ()
    """Place types of which the place has to have one; empty if any place will do."""
    wishes: Mapping[str, bool] = field(default_factory=dict)
    """Attributes wished for, and whether each has to hold, such as `{"spicy": False}`."""
    at: tuple[int, int] | None = None
    """(day, 0 for Monday; minute after midnight) at which the place has to be open; `None` if it need not."""
    kind: Literal["place"] = "place"


@dataclass(frozen=True, slots=True)
class AbsenceClaim:
    """A claim that no place along a walk has the type, attributes and opening hours wished for."""

    walked: tuple[LatLng, ...]
    """Positions of the walker along the walk."""
    types: tuple[str, ...]
    """Place types of which a place has to have one."""
    wishes: Mapping[str, bool] = field(default_factory=dict)
    """Attributes wished for, and whether each has to hold, such as `{"spicy": False}`."""
    at: tuple[int, int] | None = None
    """(day, 0 for Monday; minute after midnight) at which a place has to be open; `None` if it need not."""
    kind: Literal["absence"] = "absence"


@dataclass(frozen=True, slots=True)
class CountClaim:
    """A claim of how many things of a kind stand where an agent has looked."""

    thing: str
    """Kind of the things, such as `"trash bin"`, in the words of the detector."""
    positions: tuple[LatLng, ...]
    """Position of each reported thing."""
    looked_from: tuple[LatLng, ...]
    """Positions where the agent looked."""
    at_once: int | None = None
    """Most things found in one look, where looks were not matched with each other; `None` where they were.
    The claim is then that at least so many exist, or none."""
    kind: Literal["count"] = "count"


@dataclass(frozen=True, slots=True)
class HomeClaim:
    """A claim of the minutes on foot from a home to the nearest place of each kind."""

    address: str
    """Address of the home in one line."""
    position: LatLng
    minutes: Mapping[str, float | None]
    """Minutes on foot by place type; `None` where none is within `reach_m`."""
    reach_m: float
    """Radius in metres around the home within which places count."""
    kind: Literal["home"] = "home"


Claim = Annotated[
    ArrivalClaim | PlaceClaim | AbsenceClaim | CountClaim | HomeClaim, Field(discriminator="kind")
]


@dataclass(frozen=True, slots=True)
class CheckedClaim:
    """A claim compared with the truth."""

    claimed: str
    """Words for the value that is claimed."""
    true: str
    """Words for the true value."""
    holds: bool | None
    """True for a true claim, False for a false one; `None` where the truth is not known."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Figures of the comparison, such as `{"reported": 12, "exist": 9, "right": 8}`."""
    right: tuple[int, ...] | None = None
    """Indices, from 0, of the right ones among the positions of a count; `None` for other claims."""


@dataclass(frozen=True, slots=True)
class ToldTruth:
    """The claims of a run, each compared with the truth."""

    known: str
    """Reason why the truth about the city is known, in a sentence."""
    checked: tuple[CheckedClaim, ...]
    """Claims in the order in which the agent made them."""

    @property
    def line(self) -> str:
        """Up to three claims with what is true of each, or the count of true ones, in one line."""
        if not self.checked:
            return "The run ended without a claim"
        if len(self.checked) <= 3:
            return "; ".join(f"{one.claimed}: {one.true}" for one in self.checked)
        held = [one.holds for one in self.checked]
        unknown = f", {held.count(None)} not known" if None in held else ""
        false = [f"; not true: {one.claimed}: {one.true}" for one in self.checked if one.holds is False]
        return f"{held.count(True)} of {len(held)} claims are true{unknown}{''.join(false[:1])}"


def check_claims(city: City, claims: Sequence[Claim]) -> ToldTruth | None:
    """Return the claims of a run compared with the truth; `None` in a city whose truth is not known."""
    if city.truth is None or city.inventory is None:
        return None
    checker = _ClaimChecker(city, city.truth, city.inventory)
    source = f"drawn from {city.attribution}" if city.attribution else "a made town"
    invented = f", in which {city.invented}" if city.invented else ""
    known = f"Known because {city.title} is {source}{invented}; the agent was not told."
    return ToldTruth(known, tuple(checker.check(one) for one in claims))


def pairs_within(reported: Sequence[LatLng], true: Sequence[LatLng], radius: float) -> dict[int, int]:
    """Match reported to true positions within `radius` metres, one to one; return {reported: true} indices.

    There are as many pairs as there can be; of all such pairings, the one with the least sum of distances.

    Args:
        reported: reported positions, in any order.
        true: true positions, in any order.
        radius: largest distance in metres between the two of a pair.
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - takes 0.2 s, which no start needs

    if not (reported and true):
        return {}
    a, b = np.array(reported), np.array(true)
    apart = distances(a[:, None, 0], a[:, None, 1], b[None, :, 0], b[None, :, 1])
    beyond = 1e6  # metres; so dear that as many pairs as possible are within the radius
    chosen = zip(*linear_sum_assignment(np.where(apart <= radius, apart, beyond)), strict=True)
    return {int(i): int(j) for i, j in chosen if apart[i, j] <= radius}


@dataclass(frozen=True, slots=True)
class _ClaimChecker:
    """A checker of claims in a town whose truth is known."""

    city: City
    truth: Truth
    inventory: Inventory

    def check(self, claim: Claim) -> CheckedClaim:
        """Return a claim of any kind, compared with the truth."""
        match claim:
            case ArrivalClaim():
                return self._check_arrival(claim)
            case PlaceClaim():
                return self._check_place(claim)
            case AbsenceClaim():
                return self._check_absence(claim)
            case CountClaim():
                return self._check_count(claim)
            case HomeClaim():
                return self._check_home(claim)

    def _check_arrival(self, claim: ArrivalClaim) -> CheckedClaim:
        """Return an arrival claim, compared by the metres from the walk's end to the nearest place sought."""
        neighbours = f" beside {' and '.join(map(_words, claim.beside))}" if claim.beside else ""
        claimed = f"{'at' if claim.arrived else 'not at'} {claim.sought}{neighbours}"
        if claim.at is None:
            places = [
                one
                for one in self.inventory.places()
                if (
                    any(_is_a(kind, one) for kind in claim.types)
                    if claim.types
                    else one.name.casefold() == claim.sought.casefold()
                )
            ]
            for kind in claim.beside:
                near = [one.position for one in self.inventory.places() if one.is_open and _is_a(kind, one)]
                places = _filter_near(places, near, BESIDE_M)
            if not places:
                return CheckedClaim(claimed, "the town has none", not claim.arrived)
            nearest = min(places, key=lambda one: distance(one.position, claim.stood))
            name, where = nearest.name, nearest.position
        else:
            name, where = claim.sought, claim.at
        metres = distance(where, claim.stood)
        arrived = metres <= claim.within_m
        words = "arrived" if arrived else "not arrived"
        true = f"{words}, {name} is {metres:.0f} m from the end of the walk"
        return CheckedClaim(claimed, true, arrived == claim.arrived, {"metres": round(metres, 1)})

    def _check_place(self, claim: PlaceClaim) -> CheckedClaim:
        """Return a claim on a place, compared with the truth about each wish."""
        place = next((one for one in self.inventory.places() if one.id == claim.place_id), None)
        if place is None:
            return CheckedClaim(claim.name, "the town has no such place", holds=False)
        wishes = list(self._check_wishes(claim, place))
        held = [holds for _, holds in wishes]
        holds = False if False in held else None if None in held else True
        verdict = {True: "fits", False: "does not fit", None: "may fit"}[holds]
        words = ", ".join(text for text, _ in wishes)
        return CheckedClaim(claim.name, f"{verdict} ({words})" if words else verdict, holds)

    def _check_absence(self, claim: AbsenceClaim) -> CheckedClaim:
        """Return a claim of absence, compared with how many open places within 25 m of the walk fit."""
        near = _filter_near([one for one in self.inventory.places() if one.is_open], claim.walked, ARRIVED_M)
        held = [[holds for _, holds in self._check_wishes(claim, one)] for one in near]
        fit = sum(all(one) for one in held)
        may = sum(False not in one for one in held) - fit
        more = f", and {may} more may" if may else ""
        true = f"{fit} of the places within {ARRIVED_M:.0f} m of the walk fit{more}"
        holds = False if fit else None if may else True
        return CheckedClaim(f"no {_words(claim.types[0])} that fits", true, holds, {"fit": fit, "may": may})

    def _check_wishes(
        self, claim: PlaceClaim | AbsenceClaim, place: Place
    ) -> Iterator[tuple[str, bool | None]]:
        """Yield for each wish (truth about the place, in words; whether it is met, `None` if not known)."""
        if claim.types:
            kind = next((one for one in claim.types if _is_a(one, place)), None)
            yield _words(kind) if kind else f"no {_words(claim.types[0])}", kind is not None
        if claim.at:
            when = f"on {moment_in_words(*claim.at)}"
            is_open = None if place.is_unsure else place.may_be_open_at(*claim.at)
            words = {True: f"open {when}", False: f"closed {when}", None: "opening hours not known"}
            yield words[is_open], is_open
        attributes = self.truth.attributes(place.id)
        for name, wished in claim.wishes.items():
            holds = attributes.get(name)
            if holds is None:
                yield f"{_words(name)}: not known", None
            else:
                text = _words(name) if holds else f"not {_words(name)}"
                yield text if holds == wished else f"{text}, not as wished", holds == wished

    def _check_count(self, claim: CountClaim) -> CheckedClaim:
        """Return a claim of a count, compared with the true number and positions of things near the looks."""
        claimed = count_noun(len(claim.positions), claim.thing)
        things = self.truth.things({claim.thing})
        if not things:
            return CheckedClaim(claimed, "the town does not know how many exist", None)
        reach = FAR_SIGHT_M if claim.at_once else IN_SIGHT_M
        near = _filter_near(things, claim.looked_from, reach)
        there = len(near)
        if claim.at_once is not None:
            most = f"up to {count_noun(claim.at_once, claim.thing)} in one look"
            claimed = most if claim.at_once else f"no {claim.thing}"
            true = f"{there} exist{'s' * (there == 1)} within {reach:.0f} m of the walk"
            seen = {"at once": claim.at_once, "exist": there}
            holds = claim.at_once <= there if claim.at_once else not there
            return CheckedClaim(claimed, true, holds, seen)
        pairs = pairs_within(claim.positions, [one.position for one in things], SAME_M)
        right = len(pairs)
        # A thing that was found from farther away exists, too.
        farther = len({things[number].position for number in pairs.values()} - {one.position for one in near})
        there += farther
        numbers = {"reported": len(claim.positions), "exist": there, "right": right}
        where = (
            f", {farther} of them farther than {reach:.0f} m from" if farther else f" within {reach:.0f} m of"
        )
        true = f"{there} exist{'s' * (there == 1)}{where} the walk, {right} of those reported are right"
        holds = len(claim.positions) == there == right
        return CheckedClaim(claimed, true, holds, numbers, tuple(sorted(pairs)))

    def _check_home(self, claim: HomeClaim) -> CheckedClaim:
        """Return a home's claim checked: its walking minutes to each place type against those of the maps."""
        truths: list[str] = []
        holds = True
        numbers: dict[str, float] = {}
        for kind, claimed in claim.minutes.items():
            near = [one.position for one in self.inventory.places() if kind in one.types and one.is_open]
            near = [one for one in near if distance(one, claim.position) <= claim.reach_m]
            seconds = self.city.maps.travel_times([claim.position], near)[0].min() if near else np.inf
            walk = round(float(seconds) / 60, 1) if np.isfinite(seconds) else None
            holds &= claimed is walk if claimed is None or walk is None else abs(claimed - walk) <= SAME_MIN
            found = "none within reach" if walk is None else f"{max(1, round(walk))} min"
            truths.append(f"{_words(kind)} {found}")
            numbers |= {} if walk is None else {f"minutes to {_words(kind)}": walk}
        wish = f"{claim.address} has near it what is wished for"
        return CheckedClaim(wish, ", ".join(truths), holds, numbers)


def _is_a(kind: str, place: Place) -> bool:
    """Return whether a place has this type or a finer one, such as `thai_restaurant` of `restaurant`."""
    return any(one == kind or one.endswith(f"_{kind}") for one in place.types)


def _filter_near(items: Iterable[_ItemT], positions: Sequence[LatLng], radius: float) -> list[_ItemT]:
    """Return the things or places within `radius` metres of at least one of the positions."""
    if not positions:
        return []
    lat, lng = np.array(positions).T
    return [one for one in items if distances(*one.position, lat, lng).min() <= radius]


def _words(name: str) -> str:
    """Return the name of a place type or attribute with spaces in place of underscores."""
    return name.replace("_", " ")
