"""The end of a planned day: its page (Markdown), its calendar (iCalendar, RFC 5545), answer and exhibits.

What comes from the world cannot change the page.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5
from zoneinfo import ZoneInfo

import icalendar

from virl.agent.agent import Agent
from virl.clock import show_clock
from virl.geo.globe import LatLng
from virl.mind.lexicon import words_of
from virl.mind.rules import RuleMind
from virl.mind.wishes import requested_attributes
from virl.pages.exhibits import Exhibit, MapExhibit, MapLine, MapPoint, TextExhibit
from virl.pages.numbers import count_noun, price
from virl.plain_text import plain_line
from virl.platform.city.claims import PlaceClaim
from virl.platform.city.maps import TransitMaps, TravelMode
from virl.platform.city.outcome import Outcome
from virl.routines.day.activity import Activity, DayPlan, changes_in_words
from virl.routines.day.checker import CityFacts, DayTerms, Violation, check, entries_of, unsure_places
from virl.routines.day.page import draw_page  # noqa: F401 - found here by its name
from virl.routines.day.settings import FEELINGS
from virl.routines.day.wish_rules import kinds_asked_for

_SPECIAL = re.compile(r"([\\`*_\[\]<>!|~&@])|(?<=www)(\.)|(:)(?=//)")
_OPENING = re.compile(r"^(?:([-+#=])|(\d+)([.)]))")
_DAY_MIN = 1440
MARKDOWN, CALENDAR = "itinerary.md", "itinerary.ics"


def show_day(agent: Agent, plan: DayPlan) -> None:
    """Check the planned day for faults, write its page and calendar, and end the run."""
    zone = agent.city.time_zone
    made = datetime.fromisoformat(agent.run.start.started)
    weekday = agent.character.day_and_minute[0]
    on = date_of(weekday, made.astimezone(ZoneInfo(zone) if zone else UTC).date())
    title = f"A day in {agent.city.title} for {plan.client.name}"
    answer = _answer_of(plan)
    facts = CityFacts(agent.city, plan.seconds)
    asked = (entries_of(answer), DayTerms(plan.day, weekday, plan.start.position), facts)
    violations, unsure = check(*asked), unsure_places(*asked)
    unknown = prices = [f"{agent.city.lacks}: costs are estimates."] if agent.city.lacks else []
    if unsure:
        unknown = [*unknown, f"Opening hours are not known: {', '.join(unsure)}."]
    if "transit" in plan.day.modes and not isinstance(agent.city.maps, TransitMaps):
        unknown = [*unknown, f"Public transport is not known in {agent.city.title}."]
    files = [
        agent.run.attach(
            MARKDOWN,
            itinerary(
                plan.activities,
                title=f"{title}, {on:%A %d %B %Y}",
                before=plan.day.feelings,
                budget_usd=plan.day.budget_usd,
                notes=_notes(agent, plan, unknown),
            ),
        ),
        agent.run.attach(
            CALENDAR,
            calendar(
                plan.activities,
                title=title,
                on=on,
                zone=zone,
                made=made,
                run_id=agent.run.start.id or agent.run.start.started,
            ),
        ),
    ]
    visits = [one for one in plan.activities if one.kind != "transport"]
    spent = sum(one.cost_usd for one in plan.activities)
    reason = (
        f"{count_noun(len(visits), 'activity', 'activities')} for {plan.client.name}, "
        f"{price(spent)} of {price(plan.day.budget_usd)} spent, "
        f"{count_noun(len(violations), 'violation')}. {' '.join([*prices, plan.ended])}"
    )
    visited = {one.spot.sort for one in visits}
    missing = [kind for kind in _asked_for(agent, plan) if kind not in visited]
    if missing:
        reason += f" Asked for, and not in the day: {', '.join(map(words_of, missing))}."
    agent.run.end(
        Outcome("not found" if not visits else "missed" if missing else "finished", reason),
        answer={
            "client": plan.client.name,
            "date": on.isoformat(),
            "time_zone": zone,
            "activities": answer,
            "spent_usd": round(spent, 2),
            "budget_usd": plan.day.budget_usd,
            "state_before": plan.day.feelings,
            "state_after": plan.activities[-1].state if plan.activities else plan.day.feelings,
            "scenic": asdict(plan.scenic) | {"spot": plan.scenic.spot.model_dump()} if plan.scenic else None,
            "wishes": list(plan.said),
            "amendments": list(plan.amendments),
            "violations": [asdict(one) for one in violations],
            "unknown_hours": unsure,
            "not_known": prices,
            "transit_known": isinstance(agent.city.maps, TransitMaps),
        },
        files=files,
        exhibits=_exhibits(agent, plan, violations, unknown),
        claims=_claims(plan, weekday),
    )


def plain(text: str) -> str:
    """Return a text on one line, with the characters that are special in Markdown escaped."""
    inline = _SPECIAL.sub(lambda found: f"\\{found[0]}", _text(text))
    return _OPENING.sub(lambda found: f"{found[2] or ''}\\{found[1] or found[3]}", inline)


def itinerary(
    activities: Sequence[Activity],
    *,
    title: str,
    before: Mapping[str, float],
    budget_usd: float,
    notes: Sequence[str],
) -> str:
    """Return the day as a Markdown page: activities, costs, and feelings before and after.

    Args:
        activities: activities and journeys, in order.
        title: title of the page.
        before: feelings at the start, each in [0, 100].
        budget_usd: US dollars for the whole day.
        notes: paragraphs at the end.
    """
    lines = [f"# {plain(title)}", ""]
    for one in activities:
        where = f", {plain(one.spot.name)}" if one.spot.name and not one.mode else ""
        lines.append(f"- **{one.time}** {plain(one.what)}{where}{_activity_details(one)}")
    if not activities:
        lines.append("Nothing could be planned.")
    after = activities[-1].state if activities else before
    lines += [
        "",
        "| | before | after |",
        "| --- | ---: | ---: |",
        *(f"| {name} | {before[name]:.0f} | {after[name]:.0f} |" for name in FEELINGS),
        "",
        f"${sum(one.cost_usd for one in activities):.2f} of ${budget_usd:.2f} are spent.",
        "",
    ]
    lines += [line for note in notes for line in (plain(note), "")]
    return "\n".join(lines).rstrip() + "\n"


def _activity_details(one: Activity) -> str:
    """Return an activity's cost, address, reason and changed feelings as Markdown, to follow its name."""
    cost = f" ({price(one.cost_usd)})" if one.cost_usd else ""
    changes = changes_in_words(one.changes)
    address = f"{plain(one.spot.address)}. " if one.spot.address and not one.mode else ""
    return f"{cost}  \n  {address}{plain(one.reason)}{f' _{plain(changes)}_' if changes else ''}"


def _claims(plan: DayPlan, weekday: int) -> list[PlaceClaim]:
    """Return one claim for each visit: that the place is open then, and that a meal is as wished."""
    wishes = requested_attributes(plan.client.background, plan.client.intention, *plan.said)
    return [
        PlaceClaim(
            one.spot.id,
            one.spot.name,
            wishes=wishes if one.kind == "eat" else {},
            at=((weekday + one.starts // _DAY_MIN) % 7, one.starts % _DAY_MIN),
        )
        for one in plan.activities
        if one.spot.id and one.kind != "transport"
    ]


def _answer_of(plan: DayPlan) -> list[dict[str, object]]:
    """Return the activities of a plan as data, as `result.json` has them."""
    return [
        {
            "kind": one.kind,
            "starts": show_clock(one.starts),
            "ends": show_clock(one.ends),
            "what": one.what,
            "reason": one.reason,
            "place": one.spot.name,
            "place_id": one.spot.id,
            "sort": one.spot.sort,
            "address": one.spot.address,
            "lat": one.spot.lat,
            "lng": one.spot.lng,
            **one.model_dump(exclude={"kind", "starts", "ends", "what", "reason", "spot"}),
        }
        for one in plan.activities
    ]


def _exhibits(
    agent: Agent, plan: DayPlan, violations: Sequence[Violation], unknown: Sequence[str]
) -> list[Exhibit]:
    """Return the report's exhibits: the map of the day, and texts about it."""
    shown: list[Exhibit] = []
    if plan.activities:
        shown.append(_day_map(agent, plan))
    if plan.scenic:
        spot = plan.scenic
        text = (
            f"{spot.spot.name}, {spot.rating:g} of 10, "
            f"the best of {count_noun(spot.seen, 'rated view')}.\n\n{spot.reason}"
        )
        shown.append(TextExhibit(title="The scenic spot", text=text))
    if plan.said:
        shown.append(TextExhibit(title="Feedback during the day", text="\n\n".join(plan.said)))
    if plan.amendments:
        shown.append(TextExhibit(title="Changes to the proposed day", text="\n\n".join(plan.amendments)))
    checked = [one.text for one in violations] or ["The plan breaks no constraint."]
    return [*shown, TextExhibit(title="Constraint check", text="\n\n".join([*checked, *unknown]))]


def _asked_for(agent: Agent, plan: DayPlan) -> list[str]:
    """Return the place types that the client asks for and does not refuse; empty if a model plans."""
    if not isinstance(agent.mind, RuleMind):
        return []
    said = " ".join((*plan.said, *plan.amendments)).lower()
    kinds = kinds_asked_for(plan.client.intention)
    return [
        kind
        for kind in kinds
        if not re.search(rf"\b(?:no|without|drop|skip) (?:the )?{words_of(kind)}", said)
    ]


def _notes(agent: Agent, plan: DayPlan, unknown: Sequence[str]) -> list[str]:
    """Return the notes at the end of the page: wishes, changes, scenic spot, `unknown`, end and sources."""
    notes = [f"Feedback: {wish}" for wish in plan.said]
    notes += [f"Change: {one}" for one in plan.amendments]
    if plan.scenic:
        notes.append(f"Scenic spot: {plan.scenic.description}")
    notes += [*unknown, plan.ended]
    return [*notes, f"Places and ways: {agent.city.notice}."] if agent.city.notice else notes


def _day_map(agent: Agent, plan: DayPlan) -> MapExhibit:
    """Return the map of the day: its start, numbered places, and ways."""
    points = [MapPoint(lat=plan.start.lat, lng=plan.start.lng, label="start", style="start")]
    lines, here, number = [], plan.start, 0
    for one in plan.activities:
        if one.mode:
            path = _journey_path(agent, here.position, one)
            lines.append(MapLine(points=path, label=one.what))
        elif one.spot.name:
            number += 1
            points.append(
                MapPoint(
                    lat=one.spot.lat,
                    lng=one.spot.lng,
                    label=one.spot.name,
                    text=f"{one.time} {one.what}",
                    mark=str(number),
                    style="pick" if one.kind == "scenic" else "stop",
                )
            )
        here = one.spot
    return MapExhibit(title="Map", points=tuple(points), lines=tuple(lines))


def _journey_path(agent: Agent, here: LatLng, one: Activity) -> tuple[tuple[float, float], ...]:
    """Return the (latitude, longitude) points of a journey from `here`; straight if routes cost money."""
    if agent.city.ledger:
        return ((here.lat, here.lng), (one.spot.lat, one.spot.lng))
    maps, there = agent.city.maps, one.spot.position
    if one.mode == "transit" and isinstance(maps, TransitMaps):
        path = maps.journey(here, there, agent.character.day_and_minute[0], one.starts).path
    else:
        mode: TravelMode = one.mode if one.mode and one.mode != "transit" else "walking"
        path = maps.route([here, there], mode).path
    return tuple((float(lat), float(lng)) for lat, lng in path)


def date_of(weekday: int, today: date) -> date:
    """Return the first date from `today` on that has a weekday (0 for Monday)."""
    return today + timedelta(days=(weekday - today.weekday()) % 7)


def calendar(
    activities: Sequence[Activity],
    *,
    title: str,
    on: date,
    zone: str | None,
    made: datetime,
    run_id: str,
) -> str:
    """Return the day, on the date `on` and in time zone `zone` (IANA), as iCalendar text with CR LF.

    Args:
        activities: activities and journeys; each becomes an event.
        title: name of the calendar.
        on: date of the day.
        zone: IANA name of the city's time zone; without one, times are those of wherever one is.
        made: when the plan was made, with its time zone.
        run_id: tells the events of this run from all others.
    """
    file = icalendar.Calendar.new(
        name=_text(title), prodid="-//virl//diego//EN", uid=_uid(run_id, "calendar")
    )
    for number, one in enumerate(activities):
        event = icalendar.Event.new(
            uid=_uid(run_id, str(number)),
            stamp=made.astimezone(UTC),
            summary=_text(one.what if one.mode or not one.spot.name else f"{one.what}: {one.spot.name}"),
            description=_text(one.reason),
            location=_text(", ".join(filter(None, (one.spot.name, one.spot.address)))) or None,
            start=moment(on, one.starts, zone),
            end=moment(on, one.ends, zone),
        )
        event.add("geo", (one.spot.lat, one.spot.lng))
        file.add_component(event)
    if zone:
        file.add_missing_timezones(on - timedelta(days=366), on + timedelta(days=366))
    return bytes(file.to_ical()).decode()


def moment(on: date, minute: int, zone: str | None) -> datetime:
    """Return a minute of a date as a time in a zone, or without one if that is `None`.

    Args:
        on: the date.
        minute: minutes after its midnight; 1440 or more is on the next day.
        zone: IANA name of a time zone, such as `Europe/Paris`.
    """
    day = on + timedelta(days=minute // 1440)
    clock = datetime(day.year, day.month, day.day, minute // 60 % 24, minute % 60)  # noqa: DTZ001
    return clock.replace(tzinfo=ZoneInfo(zone)) if zone else clock


def _text(text: str) -> str:
    """Return a text on one line without the control characters that iCalendar forbids."""
    return " ".join(plain_line(text).split())


def _uid(run_id: str, part: str) -> str:
    """Return the identifier of a calendar or event, the same whenever a run is exported."""
    return str(uuid5(NAMESPACE_URL, f"virl:{run_id}:{part}"))
