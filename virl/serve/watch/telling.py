"""What the page is told of a run: each record in words and in metres on the map's paper, as plain data."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

from virl.geo.globe import LatLng, LocalFrame
from virl.journal.journal import RULES, total_cost
from virl.journal.records import (
    AnyRecord,
    CostRecord,
    EndRecord,
    ExchangeRecord,
    NoteRecord,
    PlaceRecord,
    StartRecord,
    StepRecord,
    ViewRecord,
)
from virl.journal.report import moment
from virl.journal.story import (
    facts,
    heading_of,
    kind_of,
    outcome_of,
    question,
    scalar,
    seen_in,
    sentences,
    title_of,
    words,
)
from virl.journal.walk_map import marks_of, sights_of
from virl.pages.ground import MapGround
from virl.pages.map_svg import ground_data, mark_data
from virl.pages.maps import Mark
from virl.pages.numbers import dollars
from virl.pages.paper import Extent, Point, lay_out, on_paper
from virl.plain_text import plain_tree

Grounds = Callable[[str], MapGround]
"""The ground of a city, by its name as journals have it."""

GROUND = Extent(smallest_m=800.0)
"""The ground that is sent: what lies within 1.2 km east and west of the first step. Chosen."""


def ground_around(frame: LocalFrame, ground: MapGround) -> dict[str, object]:
    """Return the ground around the first step, as the page's map adds it."""
    return ground_data(lay_out(frame, [(0.0, 0.0)], ground, extent=GROUND))


@lru_cache(maxsize=32)  # the last runs of a town often begin at one place
def ground_of_city(grounds: Grounds, city: str, start: LatLng) -> dict[str, object]:
    """Return the ground of a city around a start; not to be changed.

    Args:
        grounds: of cities.
        city: its name.
        start: the position in the middle.
    """
    return ground_around(LocalFrame(start), grounds(city))


def plain_mark(step: int, at: Point, title: str) -> dict[str, object]:
    """Return the mark of a step that only tells where somebody went.

    Args:
        step: its number.
        at: on the map.
        title: of the step.
    """
    return mark_data(Mark(*at, "step walk", f"Step {step}: {title}", shape="dot"))


@dataclass(frozen=True, slots=True)
class ToldBox:
    """A detection; its box in pixels of the view."""

    label: str
    score: float | None
    """`None` where the box was not found by a detector."""
    box: tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class ToldView:
    """A view; its picture is found by the record's number and the view's place in it."""

    alt: str
    caption: str
    heading: float | None
    """`None` where it is not known, as in the pictures of a benchmark."""
    pitch: float
    fov: float | None
    width: int
    height: int
    purpose: str
    boxes: tuple[ToldBox, ...]


@dataclass(frozen=True, slots=True)
class ToldPlace:
    """A place that was considered."""

    name: str
    about: str
    decision: str
    reason: str


@dataclass(frozen=True, slots=True)
class ToldThought:
    """A question to a mind and its answer."""

    question: str
    mind: str
    said: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    cost: str


@dataclass(frozen=True, slots=True)
class ToldCost:
    """The cost of a record, or of the whole run."""

    usd: float
    calls: int
    tokens: int
    views: int
    requests: int
    seconds: float


class RunBrief:
    """The little of a run that its card among others shows.

    Args:
        who: the name where the journal gives none.
    """

    def __init__(self, who: str) -> None:
        self.who = who
        self.city = self.began = ""
        self.title = ""
        """Title of the last record that has one."""
        self.points: list[Point] = []
        """Positions of all steps on the map's paper."""
        self._frame: LocalFrame | None = None

    def take(self, record: AnyRecord) -> None:
        """Take note of the next record."""
        match record:
            case StartRecord():
                self.who, self.city, self.began = _name(record), record.city, record.started
            case StepRecord():
                here = record.pose.lat, record.pose.lng
                self._frame = self._frame or LocalFrame(LatLng(*here))
                self.points.append(on_paper(self._frame, *here))
                self.title = title_of(record)
            case NoteRecord():
                self.title = _title_of_note(record)
            case EndRecord():
                self.title = outcome_of(record.result)

    def place(self, position: LatLng) -> Point | None:
        """Return the place of a position on the map; `None` before the first step."""
        return on_paper(self._frame, *position) if self._frame else None


class Teller:
    """A teller of the records of one run, in their order.

    Args:
        grounds: of cities, for the map.
    """

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self._city, self._mind = "", ""
        self._frame: LocalFrame | None = None

    def tell(self, record: AnyRecord) -> dict[str, Any]:
        """Return a record as the page reads it: plain JSON without control characters or hidden ones."""
        match record:
            case StartRecord():
                told = self._start(record)
            case StepRecord():
                told = self._step(record)
            case NoteRecord():
                told = _note(record)
            case EndRecord():
                told = _end(record)
        tree: Any = plain_tree({"seq": record.seq, "kind": record.kind} | told)
        return dict(tree)

    def _start(self, start: StartRecord) -> dict[str, Any]:
        """Return what is told of the start."""
        self._city = start.city
        self._mind = start.decided_by or start.mind
        return {
            "who": _name(start),
            "city": start.city,
            "started": moment(start.started),
            "mind": "rules, a baseline without a language model" if start.mind == RULES else start.mind,
            "decidedBy": self._mind,
            "intention": str(start.character.get("intention") or ""),
            "notice": start.attribution,
            "budget": start.access.budget_usd,
        }

    def _step(self, step: StepRecord) -> dict[str, Any]:
        """Return what is told of a step; the first one brings the ground around it."""
        ground = {}
        if self._frame is None:
            self._frame = LocalFrame(LatLng(step.pose.lat, step.pose.lng))
            ground = {"ground": ground_of_city(self._grounds, self._city, self._frame.origin)}
        frame = self._frame
        by_user = " user" if step.decided_by == "user" else ""
        return {
            "step": step.step,
            "at": on_paper(frame, step.pose.lat, step.pose.lng),
            "heading": step.pose.heading,
            "metres": step.distance_m,
            "mark": kind_of(step),
            "marks": [
                mark_data(replace(mark, kind=f"{mark.kind}{by_user}", href=""))
                for mark in marks_of(step, frame)
            ],
            "paths": [{"points": path.points, "kind": path.kind} for path in sights_of(step, frame)],
            "title": title_of(step),
            "decided": step.decided,
            "decidedBy": step.decided_by or self._mind,
            "views": [asdict(_view(one, f"step {step.step}")) for one in step.views],
            "places": [asdict(_place(one)) for one in step.places],
            "thoughts": [asdict(_to_thought(one)) for one in step.asked],
            "found": [
                words(one.label) + (", seen for the first time" if one.new else "") for one in step.objects
            ],
            "cost": asdict(_cost(step)),
        } | ground


def _name(start: StartRecord) -> str:
    """Return the name of a run's character."""
    return str(start.character.get("name") or start.agent)


def _title_of_note(note: NoteRecord) -> str:
    """Return a note's topic and title."""
    topic, title, _ = heading_of(note)
    return f"{topic}: {title}" if title else topic


def _note(note: NoteRecord) -> dict[str, Any]:
    """Return what is told of a note."""
    topic, _, rest = heading_of(note)
    return {
        "title": _title_of_note(note),
        "decided": rest,
        "views": [asdict(_view(one, topic)) for one in note.views],
        "places": [],
        "thoughts": [asdict(_to_thought(one)) for one in note.asked],
        "found": [],
        "cost": asdict(_cost(note)),
    }


def _end(end: EndRecord) -> dict[str, Any]:
    """Return what is told of the end of a run."""
    result = end.result
    total = _told_cost(result.cost)
    found = ", ".join(f"{count} {words(kind)}" for kind, count in result.found.items())
    return {
        "status": result.status,
        "title": outcome_of(result),
        "decided": result.reason,
        "facts": [("Found", found)] * bool(found)
        + [(words(name).capitalize(), scalar(value)) for name, value in result.answer.items()],
        "total": asdict(total),
    }


def _view(view: ViewRecord, where: str) -> ToldView:
    """Return a view with its boxes."""
    return ToldView(
        seen_in(view, where),
        view.caption,
        view.heading,
        view.pitch,
        view.fov,
        view.width,
        view.height,
        view.purpose,
        tuple(ToldBox(one.text or words(one.label), one.score, one.box) for one in view.detections),
    )


def _place(place: PlaceRecord) -> ToldPlace:
    """Return a place with what is known of it on one line."""
    rating = f"{place.rating:.1f} of 5 ({place.review_count} reviews)" if place.rating is not None else ""
    price = "$" * place.price_level if place.price_level else ""
    kinds = ", ".join(words(one) for one in place.types)
    about = " \N{MIDDLE DOT} ".join(filter(None, (kinds, rating, price, place.address)))
    return ToldPlace(place.name, about, place.decision, place.reason)


def _to_thought(exchange: ExchangeRecord) -> ToldThought:
    """Return a question to a mind and its reply, with what it cost."""
    tokens = exchange.input_tokens + exchange.output_tokens
    paid = f"{tokens} tokens, {dollars(exchange.usd)}, {exchange.seconds:.1f} s" if tokens else ""
    return ToldThought(
        question(exchange),
        exchange.mind,
        tuple(sentences(exchange.reply)),
        tuple((words(name), scalar(value)) for name, value in facts(exchange.reply).items()),
        "from the cache" if exchange.cached else paid,
    )


def _cost(record: StepRecord | NoteRecord) -> ToldCost:
    """Return the cost of a step or note."""
    return _told_cost(total_cost([record]))


def _told_cost(cost: CostRecord) -> ToldCost:
    """Return a cost as the page counts it: tokens and requests in one number each."""
    return ToldCost(
        cost.usd,
        cost.llm_calls,
        cost.input_tokens + cost.output_tokens,
        cost.views,
        sum(cost.requests.sent.values()),
        cost.seconds,
    )
