"""A preview in sentences, for somebody who hears them; as a page, as GPX and as exhibits."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET  # nosec B405

from virl.geo.globe import LatLng
from virl.pages.exhibits import Exhibit, MapExhibit, MapLine, MapPoint, TableExhibit, TextExhibit
from virl.pages.shell import html_page, open_templates
from virl.plain_text import plain_line
from virl.routines.preview.facts import CROSSING, LANDMARK, Fact, Leg, SideOfStreet, WayPreview
from virl.routines.preview.settings import Profile
from virl.version import __version__

_TEMPLATES = Path(__file__).parent / "templates"

_GPX = "http://www.topografix.com/GPX/1/1"

STEP_M = 0.7  # of somebody who walks; chosen
ON_WHEELS: dict[Profile, float] = {"wheelchair": 0.9, "pram": 1.1}
"""Speed in metres a second of profiles on wheels, which are told minutes, not steps; chosen."""
NARROW_M = 1.5  # a wheelchair and a walker do not pass each other on less; chosen
OBSTACLES = ("bollard", "trash bin")
CARS = "parked car"
TELLS: dict[Profile, tuple[str, ...]] = {
    "low-vision": (CROSSING, LANDMARK, "bench", "bus stop", "traffic light", *OBSTACLES),
    "wheelchair": (CROSSING, *OBSTACLES, "bench", "bus stop"),
    "pram": (CROSSING, *OBSTACLES, "bench", "bus stop"),
    "stranger": (CROSSING, LANDMARK, "bus stop", "traffic light"),
}
"""Kinds of facts told to each profile; the page's table has all of them.
On wheels, what may stop one comes first: crossings and obstacles of a part, then where to rest."""
PEOPLE: dict[Profile, str] = {
    "low-vision": "people with low vision",
    "wheelchair": "people in a wheelchair",
    "pram": "people with a pram",
    "stranger": "people who are new here",
}
NEEDS_KERBS: tuple[Profile, ...] = ("low-vision", "wheelchair", "pram")
MOST_LANDMARKS = 4  # of a leg that are told; chosen


def summary(preview: WayPreview) -> str:
    """Return sentences on the whole way: length, turns, crossings, benches, bus stops and pavements."""
    kinds = Counter(fact.kind for leg in preview.legs for fact in leg.facts)
    crossings = [fact for leg in preview.legs for fact in leg.facts if fact.kind == CROSSING]
    lit = sum(fact.lights for fact in crossings)
    length, turns = preview.length_m, _count_things(len(preview.legs) - 1, "turn")
    benches = _count_things(kinds["bench"], "bench", "benches")
    stops = _count_things(kinds["bus stop"], "bus stop")
    marked = _count_things(len(crossings), "marked crossing")
    far = effort(length, preview.profile)
    parts = [
        f"From {preview.start} to {preview.destination}: {metres(length)}, {far}, {turns}.",
        f"On and beside the way: {marked}, {lit or 'none'} with traffic lights seen; {benches}; {stops}.",
    ]
    if preview.profile in ON_WHEELS:
        grounds = {side.surface or "unknown ground" for leg in preview.legs for side in (leg.left, leg.right)}
        surface = f"The ground is {' and '.join(sorted(grounds))}."
        kerbs = "Whether kerbs are dropped at crossings, and whether there are steps, is not known."
        parts[1:1] = [_describe_narrowest(preview.legs), surface, kerbs]
    elif preview.profile in NEEDS_KERBS:
        parts.append(_describe_narrowest(preview.legs))
    return " ".join(part for part in parts if part)


def leg_sentences(leg: Leg, profile: Profile) -> list[str]:
    """Return the sentences on a stretch: direction and length, the street, then what is beside it."""
    turn = f"Turn {leg.turn}, then go" if leg.turn else "Go"
    near = f", near {plain_line(leg.near)} by the map" if leg.near else ""
    said = [f"{turn} {leg.compass} for {metres(leg.length_m)}, {effort(leg.length_m, profile)}{near}."]
    if profile in NEEDS_KERBS and leg.left == leg.right:
        said.append(_describe_side("On both sides", leg.left))
    elif profile in NEEDS_KERBS:
        said += [_describe_side("On the left", leg.left), _describe_side("On the right", leg.right)]
    facts = [fact_sentence(fact, leg.from_m, profile) for fact in told_facts(leg, profile)]
    marked = [fact.along_m for fact in leg.facts if fact.kind == CROSSING]
    # A junction with a marked crossing is told by that.
    bare = [at for at in leg.junctions if all(abs(at - one) > 15.0 for one in marked)]
    joins = [f"In {metres(at - leg.from_m)}: other ways join." for at in bare]
    if profile in ON_WHEELS:
        return [*said, *joins, *facts, _describe_traffic(leg)]
    return [*said, _describe_traffic(leg), *facts, *joins]


def told_facts(leg: Leg, profile: Profile) -> list[Fact]:
    """Return the facts of a stretch told to a profile, in the way's order; on wheels, obstacles first."""
    names = [fact for fact in leg.facts if fact.kind == LANDMARK]
    # What was read from many places is easily found.
    best = sorted(names, key=lambda fact: -fact.looks)[:MOST_LANDMARKS]
    told = [
        fact for fact in leg.facts if fact.kind in TELLS[profile] and (fact.kind != LANDMARK or fact in best)
    ]
    if profile in ON_WHEELS:
        told.sort(key=lambda fact: fact.kind not in (CROSSING, *OBSTACLES))
    return told


def fact_sentence(fact: Fact, since: float = 0.0, profile: Profile = "low-vision") -> str:
    """Return a sentence on a fact: metres from `since` (metres along the way), what, and side or clock.

    Args:
        fact: fact on or beside the way.
        since: metres along the way from which the distance is told.
        profile: profile of the reader.
    """
    if fact.kind == LANDMARK:
        what = plain_line(fact.name)
    elif fact.kind == CROSSING:
        over = f" over {fact.over}" if fact.over else ""
        what = f"a marked crossing{over}, {'with' if fact.lights else 'without'} traffic lights seen"
    else:
        what = f"{'an' if fact.kind[:1] in 'aeiou' else 'a'} {fact.kind}"
    clock = f", at {fact.clock} o'clock" if profile == "low-vision" else ""
    where = "on your way" if fact.side == "ahead" else f"on your {fact.side}{clock}"
    doubt = "" if fact.is_sure else " Seen from one place only: uncertain."
    away = max(0.0, fact.along_m - since)
    return f"{f'In {metres(away)}' if away >= 0.5 else 'Here'}: {what}, {where}.{doubt}"


def speech(preview: WayPreview) -> str:
    """Return the preview as plain text: a sentence a line, an empty line between stretches."""
    blocks = [[summary(preview)]]
    blocks += [leg_sentences(leg, preview.profile) for leg in preview.legs]
    blocks += [[preview.arrival], ["Not known: " + "; ".join(preview.unknown) + "."]]
    if preview.credits:
        blocks.append([preview.credits])
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def metres(length: float) -> str:
    """Return a length in metres as text, rounded to 5 m from 20 m on."""
    whole = round(length) if length < 20 else 5 * round(length / 5)
    return f"{whole} m"


def effort(length: float, profile: Profile) -> str:
    """Return a length in metres as text: minutes for a profile on wheels, else steps."""
    if profile in ON_WHEELS:
        return f"about {_count_things(max(1, round(length / ON_WHEELS[profile] / 60)), 'minute')}"
    return f"about {10 * max(1, round(length / STEP_M / 10))} steps"


def _count_things(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, "no" for 0; a plural other than with `s` is given as `many`."""
    return f"{count or 'no'} {one if count == 1 else many or one + 's'}"


def _describe_side(where: str, side: SideOfStreet) -> str:
    """Return a sentence on one side of the street, led in by `where`, such as "On the left"."""
    surface = side.surface or "unknown ground"
    if side.kerb_m is None:
        return f"{where} no kerb is seen; the ground is {surface}."
    if side.pavement_m is None:
        return f"{where} there is a kerb; how wide the pavement is cannot be seen."
    narrow = ": narrow" if side.pavement_m < NARROW_M else ""
    return f"{where} the pavement is {surface}, {side.pavement_m:g} m wide{narrow}, behind a kerb."


def _describe_traffic(leg: Leg) -> str:
    """Return a sentence on the width of the road, if seen, and the number of parked cars."""
    cars = sum(fact.kind == CARS for fact in leg.facts)
    width = (
        None if leg.left.kerb_m is None or leg.right.kerb_m is None else leg.left.kerb_m + leg.right.kerb_m
    )
    road = f"The road is {width:.0f} m wide" if width else "How wide the road is cannot be seen"
    return f"{road}, with {_count_things(cars, CARS)} seen."


def _describe_narrowest(legs: Sequence[Leg]) -> str:
    """Return a sentence on the narrowest pavement of all stretches, or that none was measured."""
    widths = [
        side.pavement_m for leg in legs for side in (leg.left, leg.right) if side.pavement_m is not None
    ]
    return (
        f"The narrowest pavement seen is {min(widths):g} m wide." if widths else "No pavement was measured."
    )


def preview_exhibits(preview: WayPreview, points: Sequence[LatLng]) -> list[Exhibit]:
    """Return the report's exhibits: the way in words, on a map, and a table of its facts."""
    facts = [fact for leg in preview.legs for fact in leg.facts]
    told = [summary(preview), *(" ".join(leg_sentences(leg, preview.profile)) for leg in preview.legs)]
    # Marks of all facts would lie on each other: the map has those that the sentences tell.
    shown = [fact for leg in preview.legs for fact in told_facts(leg, preview.profile)]
    marks = tuple(
        MapPoint(lat=fact.lat, lng=fact.lng, label=fact.name or fact.kind, mark=str(number), style="beside")
        for number, fact in enumerate(facts, start=1)
        if fact in shown
    )
    ends = (
        MapPoint(lat=points[0].lat, lng=points[0].lng, label=preview.start, style="start"),
        MapPoint(lat=points[-1].lat, lng=points[-1].lng, label=preview.destination, style="pick"),
    )
    rows = tuple(
        (number, fact.name or fact.kind, round(fact.along_m), fact.side, round(fact.off_m, 1), fact.looks)
        for number, fact in enumerate(facts, start=1)
    )
    return [
        TextExhibit(title="The way", text="\n\n".join([*told, preview.arrival])),
        MapExhibit(
            title=f"Way to {preview.destination}",
            points=(*marks, *ends),
            lines=(MapLine(points=tuple((at.lat, at.lng) for at in points), label="the way"),),
        ),
        TableExhibit(
            title="What is on and beside it",
            columns=("number", "what", "m from the start", "side", "m aside", "seen from"),
            rows=rows,
        ),
    ]


def page(preview: WayPreview) -> str:
    """Return the preview as an HTML page: headings, lists and one table; no pictures and no scripts."""
    return html_page(
        open_templates(_TEMPLATES, filters={"metres": metres, "plain": plain_line}),
        "preview.html.j2",
        {
            "preview": preview,
            "people": PEOPLE[preview.profile],
            "summary": summary(preview),
            "legs": [(leg, leg_sentences(leg, preview.profile)) for leg in preview.legs],
            "version": __version__,
        },
    )


def gpx(preview: WayPreview, points: list[LatLng]) -> str:
    """Return the way as a GPX track through its points, with a waypoint for each fact."""
    ET.register_namespace("", _GPX)
    root = ET.Element(f"{{{_GPX}}}gpx", version="1.1", creator=f"virl {__version__}")
    for leg in preview.legs:
        for fact in leg.facts:
            point = ET.SubElement(root, f"{{{_GPX}}}wpt", _gpx_attributes(fact.lat, fact.lng))
            ET.SubElement(point, f"{{{_GPX}}}name").text = plain_line(fact.name) if fact.name else fact.kind
            ET.SubElement(point, f"{{{_GPX}}}desc").text = fact_sentence(fact)
    track = ET.SubElement(root, f"{{{_GPX}}}trk")
    title = f"{preview.start} to {preview.destination}"
    ET.SubElement(track, f"{{{_GPX}}}name").text = plain_line(title)
    segment = ET.SubElement(track, f"{{{_GPX}}}trkseg")
    for at in points:
        ET.SubElement(segment, f"{{{_GPX}}}trkpt", _gpx_attributes(at.lat, at.lng))
    return ET.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _gpx_attributes(lat: float, lng: float) -> dict[str, str]:
    """Return a position in degrees as the attributes of a GPX point."""
    return {"lat": f"{lat:.7f}", "lon": f"{lng:.7f}"}
