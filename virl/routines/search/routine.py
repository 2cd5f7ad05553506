"""Iris, who searches by sight: no map, no list of places, no directions.

She reads signs, remembers where she was and which ways she has not taken, and stops where a closer look shows
what she looks for. After AgentNav (arXiv 2512.15933) and CitySeeker (arXiv 2512.16755).

A run that goes on reads no view twice, and is first given the replies that its journal holds.
"""

from collections import Counter, UserDict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from virl.agent.agent import Agent, FarEyes
from virl.agent.character import Character
from virl.agent.going_on import link_taken
from virl.agent.routine import Wish
from virl.files.writing import JsonLines
from virl.geo.globe import LatLng, distance, signed_turn
from virl.journal.records import ExchangeRecord
from virl.mind.base import Mind, Pictures, Prompt, ReplyT
from virl.mind.lexicon import Lexicon, load_lexicon
from virl.mind.understanding import Reading
from virl.money.ledger import Ledger
from virl.pages.exhibits import Exhibit, MapExhibit, MapPoint, TextExhibit
from virl.plain_text import capitalize
from virl.platform.city.claims import ArrivalClaim
from virl.platform.city.outcome import Outcome
from virl.platform.city.places import moment_in, told_moment
from virl.platform.city.streetview import Camera, Link, Panorama
from virl.platform.movers.base import Choice, Step
from virl.platform.navigators.sight.clues import front_position
from virl.platform.navigators.sight.explorer import SightExplorer
from virl.platform.navigators.sight.goal import SightGoal, goal_in_words
from virl.platform.navigators.sight.looking import AROUND, SMALL_AROUND, KnownSign, SignLooks
from virl.platform.navigators.sight.navigator import SightNavigator
from virl.platform.navigators.sight.rules import (
    GoalQuestion,
    explain_conditions,
    quoted_name,
    understand,
    words_of_goal,
)
from virl.platform.perception.base import Detection
from virl.platform.perception.road_sight import RoadSight, far_camera
from virl.routines.search.settings import SEARCH

SIGNS = "signs.jsonl"
"""Name of the file of signs read, in the run's folder."""


class KeptSigns(UserDict[tuple[str, Camera], tuple[KnownSign, ...]]):
    """Signs read in each view, by panorama id and camera, kept in a file in the run's folder.

    Raises:
        BadInput: the file is damaged.
    """

    def __init__(self, folder: Path) -> None:
        """Read the signs and road sights stored in a run's folder, so that no view is looked at twice."""
        super().__init__()
        self._sights: dict[tuple[str, Camera], RoadSight] = {}
        self._file = JsonLines(folder / SIGNS, "resume the run", sync=False)
        for line in self._file.read(
            _LINE.validate_json, mend=": delete the file, and its views are read anew"
        ):
            if line.sight:
                self._sights[line.pano_id, line.camera] = line.sight
            else:
                self.data[line.pano_id, line.camera] = line.signs

    def __setitem__(self, key: tuple[str, Camera], signs: tuple[KnownSign, ...]) -> None:
        """Keep the signs read in a view, keyed by (panorama id, camera), and write them to the file."""
        super().__setitem__(key, signs)
        self._append(_ReadView(*key, signs))

    def look_far(self, eyes: FarEyes, panorama: Panorama, link: Link) -> RoadSight:
        """Return the sight far down a link from a panorama, looked at once and stored."""
        key = (panorama.id, far_camera(link.heading))
        if key not in self._sights:
            self._sights[key] = eyes.look_far(panorama, link)
            self._append(_ReadView(*key, (), self._sights[key]))
        return self._sights[key]

    def _append(self, line: "_ReadView") -> None:
        """Write a line on a view to the file of signs."""
        self._file.append(_LINE.dump_json(line, exclude_none=True).decode())


GOAL = "goal"
"""Topic under which the journal keeps its note on the search's goal."""
_GOAL = TypeAdapter(SightGoal)
LEXICON = "sign-lexicon"
SEEN_M = 50.0  # from a place whose sign she reads (the benchmark's)


def _read_goal(character: Character, lexicon: Lexicon) -> Reading:
    """Return the goal's text, and its words that rules act on: a name, or place types and conditions."""
    task = SEARCH.of(character).goal.strip() or character.intention
    sought = understand(GoalQuestion(task=task, kinds=tuple(lexicon.kinds)), lexicon)
    return Reading(task, tuple(words_of_goal(task, sought, lexicon)), (character.name,), "search")


WISH = Wish(_read_goal, field="intention")


def run(agent: Agent) -> None:
    """Search until the goal is found, no way is left, or decisions or moves are used up; end the run."""
    settings, city = SEARCH.of(agent.character), agent.city
    lexicon = agent.models.lexicon(LEXICON)
    goal = _find_goal(agent, tuple(lexicon.types))
    signs = KeptSigns(agent.run.folder)
    reader = agent.models.reader(settings.reader)
    cameras = AROUND if city.ledger is None else SMALL_AROUND
    looks = SignLooks(city.streetview, reader, lexicon, signs, tuple(cameras))
    eyes = FarEyes(agent)
    written = list(agent.run.steps)
    mind = ReplayedMind(agent.mind, deque(one for step in written for one in step.asked))
    navigator = SightNavigator(
        city.streetview,
        agent.mover,
        SightExplorer(
            mind,
            looks,
            goal,
            prompts=agent.prompts,
            far=partial(signs.look_far, eyes) if eyes.looks_far else None,
        ),
        max_decisions=settings.decisions,
        max_moves=agent.character.limits.steps,
        task=goal.told,
    )
    ended = Outcome("gave up")  # until the navigator's last choice says why
    for step in navigator.walk(agent.start_pose):
        # A resumed search decides its first steps again: that brings back what the explorer knew.
        known = written[step.index] if step.index < len(written) else None
        if known is None:
            _write_down(agent, step, signs)
        elif known.decided_by:
            link = link_taken(step.links, known)
            step.settle(Choice(link, known.decided, decided_by=known.decided_by))
        elif step.choice.link is not None and step.choice.link.pano_id != known.next_pano_id:
            step.settle(Choice(link_taken(step.links, known), known.decided))
        ended = step.choice.outcome or ended
    stood = LatLng(agent.run.steps[-1].pose.lat, agent.run.steps[-1].pose.lng)
    claim = ArrivalClaim(
        goal.name or _join_types(goal.kinds),
        stood,
        ended.status == "finished",
        types=() if goal.name else goal.kinds,
        beside=() if ended.kind == "substituted" else goal.beside,
        within_m=SEEN_M,
    )
    if ended.status != "finished":
        metres = distance(agent.start.position, stood)
        ended = ended.with_detail(_describe_failure(goal, metres, signs))
    reason = capitalize(ended.sentence) + "."
    agent.run.end(
        replace(ended, reason=reason),
        exhibits=[*_found_map(agent, ended, signs), *_search_exhibits(goal, signs, navigator.decisions)],
        claims=[claim],
    )


def _describe_failure(goal: SightGoal, metres: float, signs: KeptSigns) -> str:
    """Return what was sought, that it ended `metres` from the start, and which sign came nearest."""
    sought = f"a sign that says {goal.name!r}" if goal.name else f"the sign of a {_join_types(goal.kinds)}"
    read = [one for seen in signs.values() for one in seen]
    nearest = goal.nearest_to(read)
    came = f"{nearest.sign.text!r} came nearest" if nearest else "none came near"
    number = "1 sign was" if len(read) == 1 else f"{len(read)} signs were"
    return f"looked for {sought} and ended {metres:.0f} m from the start: {number} read, {came}"


def _join_types(kinds: Sequence[str], separator: str = " or ") -> str:
    """Return place types as words, joined."""
    return separator.join(kind.replace("_", " ") for kind in kinds)


def _find_goal(agent: Agent, kinds: tuple[str, ...]) -> SightGoal:
    """Return the search's goal, understood once a run and noted; `kinds` are the place types it may have."""
    told = SEARCH.of(agent.character).goal.strip() or agent.character.intention
    moment = moment_in(told)
    if not moment and not quoted_name(told):
        moment = agent.character.day_and_minute
        told = f"{told} {told_moment(*moment)}"
    if noted := agent.run.find_note(GOAL, "goal"):
        return _GOAL.validate_python(noted.data)
    goal = goal_in_words(told, agent.mind, kinds, agent.prompts, moment)
    data = _GOAL.dump_python(goal, mode="json")
    agent.run.note(GOAL, "goal", _describe_goal(goal), data=data)
    return goal


def _describe_goal(goal: SightGoal) -> str:
    """Return a sentence on the sign that the search looks for, and on its conditions."""
    if goal.name:
        return f"Looks for a sign that says {goal.name!r}."
    kinds, beside = _join_types(goal.kinds), _join_types(goal.beside, " and ")
    said = f"Looks for the sign of a {kinds}{f' beside a {beside}' if beside else ''}."
    return f"{said} {explain_conditions(goal.told, load_lexicon(), goal.moment)}".rstrip()


def _write_down(agent: Agent, step: Step, signs: KeptSigns) -> None:
    """Write a step to the journal, with the view of the sign found, of most signs, or toward its move."""
    choice = step.choice
    toward = choice.link.heading if choice.link else step.pose.heading
    what = choice.outcome.what if choice.outcome else ""
    read = [one for (at, _), seen in signs.items() for one in seen if at == step.pose.pano_id]
    found = [one.sign for one in read if what and one.sign.text == what]
    telling = [*found, *(one.sign for one in read if one.kinds)]
    views = Counter(one.camera for one in telling)
    camera = (
        found[-1].camera if found else max(views, key=views.__getitem__, default=Camera(toward, 8.0, 90.0))
    )
    shown = dict.fromkeys((one.text, one.score, one.box) for one in telling if one.camera == camera)
    boxes = [Detection("sign", score, box, text) for text, score, box in shown]
    view = agent.city.streetview.view(step.pose.pano_id, camera)
    agent.run.step(
        step,
        views=agent.run.keep(view, "look", boxes),
        decided=choice.reason,
        next_pano_id=choice.link.pano_id if choice.link else None,
        outcome=choice.outcome,
    )


def _found_map(agent: Agent, ended: Outcome, signs: KeptSigns) -> Iterator[MapExhibit]:
    """Yield the map of what was found, at the estimated position of its sign; none if nothing was."""
    here = agent.city.streetview.panorama(agent.run.steps[-1].pose.pano_id)
    read = [one.sign for (at, _), seen in signs.items() for one in seen if at == here.id]
    for sign in [one for one in read if one.text == ended.what][-1:]:
        turns = [signed_turn(link.heading, sign.heading) for link in here.links]
        street = sign.heading - min(turns, key=abs, default=0.0)
        lat, lng = front_position(here.position, street, sign.heading)
        point = MapPoint(lat=lat, lng=lng, label=sign.text, text="estimated from its sign", style="pick")
        yield MapExhibit(title="What she found", points=(point,))


def _search_exhibits(goal: SightGoal, signs: KeptSigns, decisions: int) -> list[Exhibit]:
    """Return the report's exhibit: the goal in words, and how much was looked at for it."""
    read = {one.sign.text for seen in signs.values() for one in seen}
    counts = f"{decisions} decisions; {len(read)} signs read in {len(signs)} looks."
    text = f"{_describe_goal(goal)}\n\n{counts}"
    return [TextExhibit(title="What she looked for", text=text)]


@dataclass(frozen=True, slots=True)
class _ReadView:
    """A line of the file of signs: a view, with the signs in it or the sight down its road."""

    pano_id: str
    camera: Camera
    signs: tuple[KnownSign, ...]
    sight: RoadSight | None = None
    """Sight far down the road; `None` in a line on signs."""


_LINE = TypeAdapter(_ReadView)


@dataclass(frozen=True, slots=True)
class ReplayedMind:
    """A mind that replies from a journal until that is used up, and then asks another mind."""

    mind: Mind
    """Mind that replies once the journal is used up."""
    recorded: deque[ExchangeRecord]
    """Recorded exchanges that were not replied from yet, in order."""

    @property
    def name(self) -> str:
        """Name of the mind that is asked in the end."""
        return self.mind.name

    @property
    def ledger(self) -> Ledger:
        """Ledger of the mind that is asked in the end; recorded replies are not added to it."""
        return self.mind.ledger

    def with_own_ledger(self) -> Mind:
        """Return the mind with a ledger of its own, without the recorded replies."""
        return self.mind.with_own_ledger()

    def ask(
        self,
        prompt: Prompt[ReplyT],
        *,
        images: Pictures = (),
        rule_inputs: Mapping[str, object] = {},
        **inputs: object,
    ) -> ReplyT:
        """Return the next reply of the journal while there is one, then the mind's reply."""
        if self.recorded:
            return prompt.reply.model_validate(self.recorded.popleft().reply)
        return self.mind.ask(prompt, images=images, rule_inputs=rule_inputs, **inputs)
