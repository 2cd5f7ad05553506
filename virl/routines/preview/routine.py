"""Noor, who describes a way before it is walked: by pictures, for people who cannot see them.

She walks a route panorama by panorama, looks at the ground, at signs and at what stands beside the way, and
writes what a walker needs. After SceneScout's route preview (arXiv 2504.09227); what differs is in
`docs/explanation/preview.md`.
"""

from collections.abc import Sequence
from contextlib import suppress
from random import Random

from virl.agent.agent import Agent
from virl.agent.character import Character, Point, parse_start
from virl.agent.routine import Wish
from virl.errors import BadInput, NoImagery, NoRoute, NoStreetView, NotFound
from virl.files.json_reading import JsonRecord
from virl.geo.globe import LatLng, bearing, egocentric_word
from virl.mind.lexicon import Lexicon, load_lexicon, words_of
from virl.mind.understanding import Reading
from virl.platform.city.city import City
from virl.platform.city.locate import address_in, is_address, locate
from virl.platform.city.maps import ReverseMaps
from virl.platform.city.outcome import Outcome
from virl.platform.city.starts import draw_address, is_there
from virl.platform.city.streetview import Panorama, Pose, relocate
from virl.platform.movers.base import Choice, Step
from virl.platform.navigators.tourist.signs import SignReader
from virl.platform.perception.active import Looking
from virl.platform.perception.memory import VisualMemory
from virl.routines.counting.finds import MEMORY
from virl.routines.counting.rounds import Counter, memory_settings_for
from virl.routines.directions.destination import find_destination
from virl.routines.directions.rules import kind_named, read_question
from virl.routines.directions.settings import DirectionsSettings
from virl.routines.directions.walkway import Lookout, Stand, walk_to
from virl.routines.preview.facts import WayPreview
from virl.routines.preview.observing import Glance, glance_at, legs_of
from virl.routines.preview.settings import PREVIEW, Profile
from virl.routines.preview.showing import (
    ON_WHEELS,
    gpx,
    page,
    preview_exhibits,
    speech,
    summary,
)

_PAGE, _SPEECH, GPX, _JSON = "preview.html", "preview.txt", "preview.gpx", "preview.json"
DESTINATION, GLANCE = "destination", "glance"
"""Topics under which the journal keeps its notes on the destination and on what was seen."""
NEAR_M = 40.0  # how far off the address may be that a leg is told to be near; chosen
WHERE = {"front": "straight ahead", "rear": "behind you"}
UNKNOWN = (
    "slopes",
    "steps: the pictures are not searched for them",
    "dropped kerbs and tactile paving",
    "whether traffic lights can be heard",
    "noise and crowds at the time of your walk: the pictures are older",
    "shelter, other than at bus stops",
)
ON_WHEELS_FIRST = ("steps", "dropped kerbs", "slopes")
"""Beginnings of the phrases in `UNKNOWN` that matter most to people on wheels."""


def unknown_to(profile: Profile) -> tuple[str, ...]:
    """Return phrases on what is unknown of any way, the most important to a profile first."""
    if profile not in ON_WHEELS:
        return UNKNOWN
    return tuple(sorted(UNKNOWN, key=lambda one: not one.startswith(ON_WHEELS_FIRST)))


def _read_intention(character: Character, lexicon: Lexicon) -> Reading | None:
    """Return the intention with its words for a place type or address; `None` if `to` names a place."""
    asked, intention = PREVIEW.of(character).to.strip(), character.intention
    if not asked and (address := address_in(intention)):
        return Reading(intention, (address,), (character.name,), "preview")
    return read_question(asked, character, lexicon, "preview")


WISH = Wish(_read_intention, field="intention")


def fit(character: Character, city: City, start: Panorama, seed: int) -> tuple[Character, tuple[str, ...]]:
    """Replace a destination that the city lacks; return (character, sentences on changes).

    Args:
        character: character as its file has it.
        city: city of the run.
        start: panorama at which the run begins.
        seed: seed of what is chosen at random.
    """
    preview = PREVIEW.of(character)
    asked = preview.to.strip() or address_in(character.intention)
    if not asked or is_there(city, asked, start.position):
        return character, ()
    lacking = f"{asked} is not in {city.title}"
    if not is_address(asked) and (kind := kind_named(asked, load_lexicon())):
        to, told = kind, f"{lacking}: looks for a {words_of(kind)}."
    elif address := draw_address(city, start.position, (), Random(seed)):
        to = address.text if is_there(city, address.text, start.position) else str(address.position)
        told = f"{lacking}: the way leads to {address.text} instead."
    else:
        return character, (f"{lacking}, and no way leads on from the start.",)
    return character.model_copy(update={"preview": preview.model_copy(update={"to": to})}), (told,)


class _Goal(JsonRecord):
    """The destination of a way, as recorded in its note."""

    title: str
    lat: float
    lng: float
    lacking: str = ""
    taken: str = ""
    succeeded: bool = True

    def with_lacks(self, text: str) -> str:
        """Return a text, after a sentence on what the city lacks if the destination is a substitute."""
        return f"{self.lacking}: took the {self.taken} {self.title}. {text}" if self.lacking else text


def run(agent: Agent) -> None:
    """Find the way, look at it from each panorama, describe it, and end the run; gives up without a way."""
    try:
        goal = _destination(agent)
    except NotFound as fault:
        agent.run.end(Outcome("not found", f"{fault}."))
        return
    title, position = goal.title, LatLng(goal.lat, goal.lng)
    try:
        end = relocate(agent.city.streetview, position, title)
        start = Pose(agent.start.id, agent.character.heading or 0.0)
        walk = walk_to(agent.city.streetview, agent.city.maps, agent.mover, start, end)
    except (NoRoute, NoStreetView) as fault:
        agent.run.end(Outcome("blocked", f"No way was found: {fault}."))
        return
    if len(walk) < 2:  # the panorama nearest to both
        told = goal.with_lacks(f"{title} is where you are.")
        agent.run.end(Outcome("arrived" if goal.succeeded else "substituted", told))
        return
    limit = agent.character.limits.steps
    if len(walk) - 1 > limit:
        reason = f"The way has {len(walk) - 1} moves: more than the limit of steps."
        agent.run.end(Outcome("limit", reason, "steps", limit))
        return
    matcher = agent.character.senses.matcher
    memory_settings = memory_settings_for(agent.city.capabilities.visual_memory, matcher)
    memory = VisualMemory.open(agent.run.folder / MEMORY, memory_settings, agent.models.matcher(matcher))
    settings = PREVIEW.of(agent.character)
    looking = Looking(range_deg=settings.range_deg)
    counter = Counter(agent.city.streetview, agent.senses.detector, memory, settings.things, looking=looking)
    glances = _look(agent, walk, counter, goal)
    counter.finish()
    preview, points = _make_preview(agent, goal, glances, counter)
    files = [
        agent.run.attach(_PAGE, page(preview)),
        agent.run.attach(_SPEECH, speech(preview)),
        agent.run.attach(GPX, gpx(preview, points)),
        agent.run.attach(_JSON, preview.model_dump_json(indent=2) + "\n"),
    ]
    agent.run.end(
        Outcome("finished" if goal.succeeded else "substituted", goal.with_lacks(summary(preview))),
        answer=preview.model_dump(mode="json"),
        files=files,
        exhibits=preview_exhibits(preview, points),
    )


def _make_preview(
    agent: Agent, goal: _Goal, glances: Sequence[Glance], counter: Counter
) -> tuple[WayPreview, list[LatLng]]:
    """Return (preview of the way, positions of its panoramas in order)."""

    def address_near(position: LatLng) -> str:
        """Return the address near a position; empty if there is none."""
        maps = agent.city.maps
        address = maps.address_at(position, NEAR_M) if isinstance(maps, ReverseMaps) else None
        return address.text if address else ""

    points = [LatLng(one.lat, one.lng) for one in glances]
    legs = legs_of(glances, counter.memory.objects(), address_near)
    toward = egocentric_word(glances[-1].heading, bearing(points[-1], LatLng(goal.lat, goal.lng)))
    start = agent.character.start
    preview = WayPreview(
        start=start if isinstance(start, str) else "your start",
        destination=goal.title,
        city=agent.city.title,
        profile=PREVIEW.of(agent.character).profile,
        length_m=legs[-1].to_m,
        legs=legs,
        arrival=f"At the end, {goal.title} is {WHERE.get(toward, 'on your ' + toward)}.",
        unknown=unknown_to(PREVIEW.of(agent.character).profile),
        credits=agent.city.notice,
        lacking=goal.lacking,
        succeeded=goal.succeeded,
    )
    return preview, points


def _destination(agent: Agent) -> _Goal:
    """Return the destination of the way, found once a run and noted; raise `NotFound` if there is none."""
    if noted := agent.run.find_note(DESTINATION, "place"):
        return _Goal.model_validate(noted.data)
    settings, here = PREVIEW.of(agent.character), agent.start.position
    asked = settings.to.strip() or address_in(agent.character.intention)
    typed = parse_start(asked)
    if isinstance(typed, Point):
        goal = _Goal(title=asked, lat=typed.lat, lng=typed.lng)
    elif asked and asked not in agent.senses.place_types:
        try:
            title, position = locate(agent.city, asked, here)
        except NotFound as fault:
            if agent.run.start.replaced:
                raise
            raise BadInput(f"{agent.run.start.agent}: preview: to: {fault}") from fault
        goal = _Goal(title=title, lat=position.lat, lng=position.lng)
    else:
        found = find_destination(agent, DirectionsSettings(to=asked, within=settings.within))
        goal = _Goal(
            title=found.place.name,
            lat=found.place.position.lat,
            lng=found.place.position.lng,
            lacking=found.lacking,
            taken=found.taken,
            succeeded=found.does_as_well,
        )
    told = goal.with_lacks(f"The way leads to {goal.title}, at {LatLng(goal.lat, goal.lng)}.")
    agent.run.note(DESTINATION, "place", told, data=goal.model_dump(mode="json"))
    return goal


def _look(agent: Agent, walk: tuple[Stand, ...], counter: Counter, goal: _Goal) -> list[Glance]:
    """Return what is seen from each stand of the walk, noted once; things beside it are counted.

    The last view is one of the goal, for people who look at the report.
    """
    reader = agent.models.keeping_reader(PREVIEW.of(agent.character).reader)
    signs = SignReader(agent.city.streetview, reader, agent.city.capabilities.cheap_view)
    lookout = Lookout(agent.city.places, signs, alone=False, free=agent.city.ledger is None)
    agent.run.progress("walking", len(agent.run.steps), len(walk) - 1)
    glances = []
    for index, stand in enumerate(walk):
        if noted := agent.run.find_note(GLANCE, str(index)):
            glances.append(Glance.model_validate(noted.data))
        else:
            glance, view = glance_at(agent.city.streetview, stand, lookout)
            glances.append(glance)
            said = f"{len(glance.crossings)} crossings, {len(glance.landmarks)} signs of places."
            kept = agent.run.keep(view, "look") if view else ()
            if stand is walk[-1]:
                there = LatLng(goal.lat, goal.lng)
                kept = (*kept, *agent.keep_view_of(there, stand.panorama, goal.title))
            data = glance.model_dump(mode="json")
            agent.run.note(GLANCE, str(index), said, data=data, views=kept)
        facing = stand.onward.heading if stand.onward else stand.pose.heading
        if index >= len(agent.run.steps):
            with suppress(NoImagery):
                counter.visit(Pose(stand.panorama.id, facing), f"step-{index}")
            _write_down(agent, walk, index)
    return glances


def _write_down(agent: Agent, walk: tuple[Stand, ...], index: int) -> None:
    """Write the walk's step at an index to the journal, without views."""
    stand = walk[index]
    before = walk[index - 1].onward if index else None
    ended = None if stand.onward else Outcome("arrived", "the end of the way")
    reason = ended.sentence if ended else f"{stand.turn} along the way"
    step = Step(
        index,
        stand.pose,
        stand.panorama,
        before.distance if before else 0.0,
        lambda: Choice(stand.onward, reason),
    )
    onward = stand.onward.pano_id if stand.onward else None
    agent.run.step(step, views=(), asked=(), decided=reason, next_pano_id=onward, outcome=ended)
