"""Records of a run as the page gets them: plain data with texts, and positions in metres on the map."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from virl.geo.globe import LatLng, LocalFrame
from virl.journal.journal import total_cost
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
from virl.journal.report import moment, run_map
from virl.journal.story import (
    ending_of,
    facts,
    heading_of,
    headline_of,
    is_structured,
    kind_of,
    question,
    reason_of,
    scalar,
    seen_in,
    sentences,
    title_of,
    words,
)
from virl.journal.walk_map import KINDS, ends_of, marks_of, sights_of
from virl.pages.ground import MapGround
from virl.pages.map_svg import figure_data, ground_data, legend_data, mark_data
from virl.pages.marks import Mark
from virl.pages.numbers import count_noun, dollars, short_number
from virl.pages.paper import Extent, Point, lay_out, on_paper
from virl.plain_text import plain_tree
from virl.platform.providers.cities import title_of_city

Grounds = Callable[[str], MapGround]
"""A function from a city's name, as in journals, to the ground of its map."""

LEGEND = {
    "step from": "start",
    **{f"step {kind}": words for kind, words in KINDS.items() if words and kind != "enter"},
    **{f"pin {kind}": f"place {KINDS[kind]}" for kind in ("continue", "enter")},
}
"""Words of the legend by the kinds of marks; who entered stands where the step's mark would be."""
GROUND = Extent(smallest_m=800.0)
"""Extent of the ground that is sent: 1.2 km east and west of the first step. Chosen."""
RESULT = Extent(aspect=8 / 5)
"""Extent of the map of a result, as wide as maps are on the page."""


def ground_around(frame: LocalFrame, ground: MapGround) -> dict[str, object]:
    """Return the ground around a frame's origin as plain data for the page's map, 1.2 km to each side."""
    return ground_data(lay_out(frame, [(0.0, 0.0)], ground, extent=GROUND))


@lru_cache(maxsize=32)  # the last runs of a town often begin at one place
def ground_of_city(grounds: Grounds, city: str, start: LatLng) -> dict[str, object]:
    """Return the ground of a city around a position as plain data; cached, so not to be changed.

    Args:
        grounds: returns the ground of a city.
        city: the city's name.
        start: the position in the middle.
    """
    return ground_around(LocalFrame(start), grounds(city))


def plain_step(
    number: int, at: Point, heading: float, metres: float, *, title: str = "", decided: str = "", by: str
) -> dict[str, Any]:
    """Return a step at which nothing was seen or considered, as plain data.

    Args:
        number: the step's number.
        at: metres east and south of the first step.
        heading: degrees clockwise from north.
        metres: length of the way from the step before.
        title: the step's title; empty for a usual one.
        decided: the decision at the step or the reason for it; may be empty.
        by: who decided.
    """
    title = title or ("On the way" if number else "The start")
    mark = Mark(*at, "step walk", f"Step {number}: {title}", shape="dot")
    if number == 0:
        mark = replace(mark, kind="step from", shape="pin", label="Start")
    return {
        "step": number,
        "at": at,
        "heading": heading,
        "metres": metres,
        "mark": "walk",
        "marks": [mark_data(mark)],
        "legend": [(mark.kind, mark.shape, LEGEND[mark.kind])] if number == 0 else [],
        "title": title,
        "decided": decided,
        "decidedBy": by,
    }


@dataclass(slots=True)
class RunSummary:
    """The facts of a run that its card shows, gathered record by record."""

    who: str
    """Name of the character; before the first record, the name of the run's folder."""
    city: str = ""
    began: str = ""
    """Time of the start, ISO 8601; empty before the first record."""
    title: str = ""
    """Title of the last record that has one."""
    ending: tuple[str, str] = ("not ended", "open")
    """(How the run ended in a word or two, the kind of its sign), as of `ending_of`."""
    _frame: LocalFrame | None = None

    def take(self, record: AnyRecord) -> None:
        """Take the next record of the run into the facts."""
        match record:
            case StartRecord():
                self.who, self.began = record.who, record.started
                self.city = title_of_city(record.city)
            case StepRecord():
                self._frame = self._frame or LocalFrame(LatLng(record.pose.lat, record.pose.lng))
                self.title = title_of(record)
            case NoteRecord():
                self.title = _title_of_note(record)
            case EndRecord():
                self.title, self.ending = headline_of(record.result)[0], ending_of(record.result)

    def place(self, position: LatLng) -> Point | None:
        """Return a position in metres (east, south) of the first step; `None` before that step."""
        return on_paper(self._frame, *position) if self._frame else None


@dataclass(slots=True)
class RecordConverter:
    """A converter of one run's records, given in their order, to data for the page."""

    grounds: Grounds
    _city: str = ""
    _mind: str = ""
    _frame: LocalFrame | None = None

    def convert(self, record: AnyRecord) -> dict[str, Any]:
        """Return a record as plain JSON data for the page, without control and hidden characters."""
        match record:
            case StartRecord():
                data = self._start_data(record)
            case StepRecord():
                data = self._step_data(record)
            case NoteRecord():
                topic, _, text = heading_of(record)
                title = _title_of_note(record)
                data = {"title": title, "decided": text, **_findings_data(record, topic)}
            case EndRecord():
                data = _end_data(record) | self._result_map(record)
        tree: Any = plain_tree({"seq": record.seq, "kind": record.kind} | data)
        return dict(tree)

    def _start_data(self, start: StartRecord) -> dict[str, Any]:
        """Return the data of the run's start for the page."""
        self._city = start.city
        self._mind = start.decided_by or start.mind
        return {
            "who": start.who,
            "city": title_of_city(start.city),
            "started": moment(start.started),
            "mind": start.mind,
            "decidedBy": self._mind,
            "intention": str(start.character.get("intention") or ""),
            "notice": start.attribution,
            "budget": start.access.budget_usd,
            "most": _most_steps(start),
        }

    def _step_data(self, step: StepRecord) -> dict[str, Any]:
        """Return the data of a step for the page; the first brings the ground around it."""
        ground = {}
        if self._frame is None:
            self._frame = LocalFrame(LatLng(step.pose.lat, step.pose.lng))
            ground = {"ground": ground_of_city(self.grounds, self._city, self._frame.origin)}
        frame = self._frame
        by_user = " user" if step.decided_by == "user" else ""
        marks = list(marks_of(step, frame))
        if ground:
            marks[0] = ends_of([step], frame)[0]
        return {
            "step": step.step,
            "at": on_paper(frame, step.pose.lat, step.pose.lng),
            "heading": step.pose.heading,
            "metres": step.distance_m,
            "mark": kind_of(step),
            # Marks of a report lead to its steps, which this page does not have.
            "marks": [mark_data(replace(mark, kind=f"{mark.kind}{by_user}", href="")) for mark in marks],
            "paths": [{"points": path.points, "kind": path.kind} for path in sights_of(step, frame)],
            "legend": [(one.kind, one.shape, LEGEND[one.kind]) for one in marks if one.kind in LEGEND],
            "title": title_of(step),
            "decided": reason_of(step),
            "decidedBy": step.decided_by or self._mind,
            **_findings_data(step, f"step {step.step}"),
            "places": [_place_data(one) for one in step.places],
            "found": [
                words(one.label) + (", seen for the first time" if one.new else "") for one in step.objects
            ],
        } | ground

    def _result_map(self, end: EndRecord) -> dict[str, Any]:
        """Return the map of a result as plain data if the run has no steps to be drawn; empty for others."""
        if self._frame:
            return {}
        figure, _ = run_map((), (), end, self.grounds(self._city), RESULT)
        if figure is None:
            return {}
        return {"map": figure_data(figure), "legend": legend_data(figure)}


def _most_steps(start: StartRecord) -> int | None:
    """Return the limit of steps of a run's character; `None` if it has none."""
    limits = start.character.get("limits")
    most = limits.get("steps") if isinstance(limits, dict) else None
    return most if isinstance(most, int) else None


def _title_of_note(note: NoteRecord) -> str:
    """Return a note's topic and title, such as "Tool: look around"."""
    topic, title, _ = heading_of(note)
    return f"{topic}: {title}" if title else topic


def _findings_data(record: StepRecord | NoteRecord, where: str) -> dict[str, Any]:
    """Return a record's views, exchanges and cost for the page; `where`: text such as "step 3"."""
    return {
        "views": [_view_data(one, where) for one in record.views],
        "thoughts": [_exchange_data(one) for one in record.asked],
        "cost": _cost_data(total_cost([record])),
    }


def _end_data(end: EndRecord) -> dict[str, Any]:
    """Return the data of the run's end for the page."""
    result = end.result
    title, rest = headline_of(result)
    found = ", ".join(count_noun(count, words(kind)) for kind, count in result.found.items())
    return {
        "ending": ending_of(result),
        "title": title,
        "decided": rest or (result.reason if result.place else ""),
        "facts": [("Found", found)] * bool(found)
        + [
            (words(name).capitalize(), short_number(value) if isinstance(value, float) else scalar(value))
            for name, value in result.answer.items()
            if value not in (None, "", []) and not is_structured(value)  # the report tells a plan
        ],
        "total": _cost_data(result.cost),
    }


def _view_data(view: ViewRecord, where: str) -> dict[str, Any]:
    """Return a view with its boxes for the page; `where` names its place, such as "step 3".

    The page fetches the picture by the numbers of record and view.
    """
    return {
        "alt": seen_in(view, where),
        **view.model_dump(include={"caption", "heading", "fov", "width", "height", "purpose"}),
        "boxes": [
            {"label": one.text or words(one.label), "score": one.score, "box": one.box}
            for one in view.detections
        ],
    }


def _place_data(place: PlaceRecord) -> dict[str, str]:
    """Return, for the page, a place that was considered; `about` has its types, rating, price, address."""
    rating = f"{place.rating:.1f} of 5 ({place.review_count} reviews)" if place.rating is not None else ""
    price = "$" * place.price_level if place.price_level else ""
    kinds = ", ".join(words(one) for one in place.types)
    about = " \N{MIDDLE DOT} ".join(filter(None, (kinds, rating, price, place.address)))
    return {"name": place.name, "about": about, "decision": place.decision, "reason": place.reason}


def _exchange_data(exchange: ExchangeRecord) -> dict[str, object]:
    """Return a question to a mind for the page, with the reply's sentences, its other fields and cost."""
    tokens = exchange.input_tokens + exchange.output_tokens
    paid = f"{tokens} tokens, {dollars(exchange.usd)}, {exchange.seconds:.1f} s" if tokens else ""
    return {
        "question": question(exchange),
        "mind": exchange.mind,
        "said": sentences(exchange.reply),
        "facts": [(words(name), scalar(value)) for name, value in facts(exchange.reply).items()],
        "cost": "from the cache" if exchange.cached else paid,
    }


def _cost_data(cost: CostRecord) -> dict[str, float]:
    """Return a cost for the page, with tokens and requests to providers of cities summed up."""
    return {
        "usd": cost.usd,
        "calls": cost.llm_calls,
        "tokens": cost.input_tokens + cost.output_tokens,
        "views": cost.views,
        "requests": sum(cost.requests.sent.values()),
        "seconds": cost.seconds,
    }
