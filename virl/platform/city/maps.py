"""Maps: addresses to positions, ways between positions, and journeys by public transport."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, Protocol, runtime_checkable

import numpy as np

from virl.clock import show_clock, whole_minutes
from virl.errors import BadInput, choices
from virl.geo.globe import Floats, LatLng, bearing, compass_word, distance, signed_turn
from virl.pages.notebooks import card, map_image

TravelMode = Literal["walking", "cycling", "driving"]

OFF_MAP_M: dict[TravelMode, float] = {"walking": 100.0, "cycling": 300.0, "driving": 300.0}
"""Metres from a stop to the nearest way beyond which it is off the map. Chosen: 300 m is 4 min on foot."""

SPEED_M_S: dict[TravelMode, float] = {"walking": 1.35, "cycling": 4.2, "driving": 7.0}
"""Speed in metres a second in town, by mode. Chosen: usual planning values, driving with its stops."""
BEND_DEG, AROUND_DEG = 40.0, 150.0
"""Degrees of a bend from which it is told as a turn, and above which it is told as turning back; chosen."""
SHORT_M = 2.0
"""Length in metres below which a piece of a route is not told; chosen."""
_TRANSIT = frozenset({"transit", "public transport", "bus", "tram", "train", "subway", "metro", "ferry"})
"""Names of modes of public transport, which have their own error message since no routes are known."""


@dataclass(frozen=True, slots=True)
class Route:
    """A way through two or more stops, with its line, length, duration and streets."""

    path: tuple[LatLng, ...]
    """Positions along the line, from the first stop to the last."""
    distance: float
    """Length of the way in metres."""
    duration: float
    """Time that the way takes, seconds."""
    streets: tuple[str, ...] = ()
    """Street name of each piece of `path`, empty for a street without one; no items if no names are known."""

    @property
    def instructions(self) -> tuple[str, ...]:
        """Sentences that describe the way, one for each stretch between two turns or changes of street."""
        sentences: list[str] = []
        before: _Stretch | None = None
        for stretch in _stretches(self):
            turn = signed_turn(before.last, stretch.first) if before else 0.0
            along = f"{f'along {stretch.street} ' if stretch.street else ''}for {stretch.metres:.0f} m"
            if before is None:
                sentences.append(f"Go {compass_word(stretch.first)} {along}.")
            elif abs(turn) < BEND_DEG:
                sentences.append(f"Continue and go {along}.")
            elif abs(turn) > AROUND_DEG:
                sentences.append(f"Turn around and go {along}.")
            else:
                sentences.append(f"Turn {'right' if turn > 0 else 'left'} and go {along}.")
            before = stretch
        return tuple(sentences)

    @property
    def __geo_interface__(self) -> dict[str, object]:
        """Route as a GeoJSON feature for shapely, GeoPandas and folium: longitude first."""
        line = {"type": "LineString", "coordinates": [(lng, lat) for lat, lng in self.path]}
        about = {"distance_m": self.distance, "duration_s": self.duration}
        return {"type": "Feature", "geometry": line, "properties": about}

    def _repr_html_(self) -> str:
        """Return HTML for a notebook: the map, length, duration and instructions."""
        told = f"{self.distance:,.0f} m, {max(1, round(self.duration / 60))} min"
        steps = [(f"{number}.", text) for number, text in enumerate(self.instructions, 1)]
        return card(told, steps, picture=map_image("Route", path=self.path))


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A stretch of a route along one street."""

    street: str
    """Name of the street; empty where it has none."""
    metres: float
    """Length of the stretch in metres."""
    first: float
    """Heading at the beginning of the stretch, degrees clockwise from north."""
    last: float
    """Heading at the end of the stretch, degrees clockwise from north."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a house, and its position."""

    text: str
    """Address as it is written in its country, such as `Mannerheimintie 5, Helsinki`."""
    position: LatLng


class Maps(Protocol):
    """A provider of positions of addresses, of routes and of travel times."""

    def geocode(self, address: str) -> LatLng:
        """Return the position of an address, or of the place that a text names.

        Raises:
            NotFound: nothing matches.
        """
        ...

    def route(self, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
        """Return the shortest way through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops.
            NoRoute: two stops are not connected, or one is off the map.
        """
        ...

    def travel_times(
        self, origins: Sequence[LatLng], destinations: Sequence[LatLng], mode: TravelMode = "walking"
    ) -> Floats:
        """Return seconds from origins to destinations, shape (origins, destinations); `inf` for no way.

        Args:
            origins: positions from which the ways start.
            destinations: positions where the ways end.
            mode: mode of travel.

        Returns:
            `inf` where no way leads, also from or to a stop that is off the map.
        """
        ...


@runtime_checkable
class ReverseMaps(Protocol):
    """Maps that also know which address lies nearest to a position."""

    def address_at(self, position: LatLng, radius: float) -> Address | None:
        """Return the address nearest to a position within `radius` metres; `None` if there is none."""
        ...


@runtime_checkable
class PanoramaMaps(Protocol):
    """Maps whose routes on foot use ways without street view, and that also route along panoramas."""

    def panorama_route(self, stops: Sequence[LatLng]) -> Route:
        """Return the shortest way from panorama to panorama through two or more stops, in their order.

        Raises:
            BadInput: fewer than two stops.
            NoRoute: two stops are not connected, or one is off the map.
        """
        ...


def walked_route(maps: Maps, stops: Sequence[LatLng], mode: TravelMode = "walking") -> Route:
    """Return the way through stops along panoramas if the maps know such ways, else that of `mode`.

    Args:
        maps: maps of the city.
        stops: two or more positions, in their order.
        mode: mode of travel, where the maps know no ways along panoramas.

    Raises:
        BadInput: fewer than two stops.
        NoRoute: two stops are not connected, or one is off the map.
    """
    return maps.panorama_route(stops) if isinstance(maps, PanoramaMaps) else maps.route(stops, mode)


def speed_of(mode: TravelMode) -> float:
    """Return the speed of a mode of travel in metres a second.

    Raises:
        BadInput: there is no such mode, or it is public transport.
    """
    if mode in SPEED_M_S:
        return SPEED_M_S[mode]
    if str(mode).casefold() in _TRANSIT:
        raise BadInput(f"travel mode {mode!r}: transit is not known here: {choices(SPEED_M_S)}")
    raise BadInput(f"unknown travel mode {mode!r}: {choices(SPEED_M_S)}")


def in_blocks(
    origins: Sequence[LatLng],
    destinations: Sequence[LatLng],
    block: tuple[int, int],
    ask: Callable[[Sequence[LatLng], Sequence[LatLng]], Floats],
) -> Floats:
    """Return seconds, (origins, destinations), from calls of `ask` for at most `block` (rows, columns) each.

    Args:
        origins: positions of the rows.
        destinations: positions of the columns.
        block: largest numbers of origins and of destinations of one request.
        ask: function (some origins, some destinations) to their seconds, of the same shape.
    """
    found = np.full((len(origins), len(destinations)), np.inf)
    for top in range(0, len(origins), block[0]):
        for left in range(0, len(destinations), block[1]):
            rows, columns = slice(top, top + block[0]), slice(left, left + block[1])
            found[rows, columns] = ask(origins[rows], destinations[columns])
    return found


def table_of_rows(
    rows: Sequence[Sequence[float | None] | None], shape: tuple[int, int], note: Callable[[str, object], None]
) -> Floats | None:
    """Return a table of seconds, `inf` where unknown; `None` if no row fits `shape`; `note` counts misfits.

    Args:
        rows: seconds of each row; `None` for a cell or a row that is unknown, which is `inf` in the table.
        shape: numbers of rows and columns that were asked for; with another number of rows there is no table.
        note: function (reason, row) that counts a row of another length, which is `inf` too.
    """
    if len(rows) != shape[0]:
        return None
    table = np.full(shape, np.inf)
    for number, row in enumerate(rows):
        if row is not None and len(row) == shape[1]:
            table[number] = [np.inf if cell is None else cell for cell in row]
        elif row is not None:
            note(f"a row of a table has {len(row)} of {shape[1]} cells", row)
    return table if any(row is not None and len(row) == shape[1] for row in rows) else None


def _stretches(route: Route) -> list[_Stretch]:
    """Return a route cut at turns and changes of street, without pieces shorter than `SHORT_M`."""
    found: list[_Stretch] = []
    for number, (start, end) in enumerate(pairwise(route.path)):
        metres = distance(start, end)
        if metres < SHORT_M:
            continue
        heading = bearing(start, end)
        street = route.streets[number] if number < len(route.streets) else ""
        last = found[-1] if found else None
        if last and last.street == street and abs(signed_turn(last.last, heading)) < BEND_DEG:
            found[-1] = _Stretch(street, last.metres + metres, last.first, heading)
        else:
            found.append(_Stretch(street, metres, heading, heading))
    return found


@dataclass(frozen=True, slots=True)
class JourneyLeg:
    """One leg of a journey by public transport: a ride, or a way on foot."""

    path: tuple[LatLng, ...]
    """Positions along the leg."""
    distance: float
    """Length of the leg in metres."""
    duration: float
    """Time from the leg's start to its end, seconds."""
    line: str = ""
    """Name of the line of a ride, such as `bus 4`; empty on foot."""
    board: str = ""
    """Name of the stop where the ride begins; empty on foot."""
    alight: str = ""
    """Name of the stop where the ride ends; empty on foot."""
    departs: int | None = None
    """Departure of a ride in minutes after midnight; `None` on foot."""
    arrives: int | None = None
    """Arrival of a ride in minutes after midnight; `None` on foot."""
    headsign: str = ""
    """Destination shown on the vehicle; may be empty."""

    @property
    def words(self) -> str:
        """Description as part of a sentence: minutes on foot, or line, stops and times of a ride."""
        if not self.line:
            return f"walk {whole_minutes(self.duration)} min"
        times = (
            f", {show_clock(self.departs)}-{show_clock(self.arrives)}"
            if self.departs is not None and self.arrives is not None
            else ""
        )
        toward = f" towards {self.headsign}" if self.headsign else ""
        return f"{self.line}{toward} from {self.board} to {self.alight}{times}"


@dataclass(frozen=True, slots=True)
class Journey:
    """A journey found by public transport: its legs, rides and walks, and how long it takes in all."""

    legs: tuple[JourneyLeg, ...]
    """Rides and ways on foot, in their order."""
    duration: float
    """Seconds from setting out to the arrival, waiting included."""

    @property
    def rides(self) -> tuple[JourneyLeg, ...]:
        """Legs of the journey that are rides; none where walking is as quick."""
        return tuple(leg for leg in self.legs if leg.line)

    @property
    def distance(self) -> float:
        """Length of all legs together, metres."""
        return sum(leg.distance for leg in self.legs)

    @property
    def path(self) -> tuple[LatLng, ...]:
        """Positions along all legs."""
        return tuple(position for leg in self.legs for position in leg.path)

    @property
    def words(self) -> str:
        """Description of the legs in a sentence, without ways on foot of under a minute."""
        return "; ".join(leg.words for leg in self.legs if leg.line or leg.duration >= 60)


@runtime_checkable
class TransitMaps(Protocol):
    """Maps that also give journeys by public transport."""

    def journey(self, here: LatLng, there: LatLng, weekday: int, minute: int) -> Journey:
        """Return the journey that arrives first, from a weekday (0: Monday) and minute after midnight on.

        Args:
            here: position where the journey starts.
            there: position where the journey ends.
            weekday: day of the week, 0 for Monday.
            minute: minutes after midnight, [0, 1440].

        Raises:
            NoRoute: none is known.
        """
        ...
