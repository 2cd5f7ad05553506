"""`TouristNavigator`: follows directions by sight, asking a mind for each action (V-IRL, appendix B.7)."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial

from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView
from virl.platform.movers.base import Choice, Mover, Step
from virl.platform.navigators.tourist.rules import (
    Act,
    ArrivalObservation,
    LandmarkNames,
    TranscriptEntry,
    WalkAction,
)
from virl.platform.navigators.tourist.spotting import LandmarkSpotter
from virl.platform.navigators.tourist.ways import (
    CrossingHints,
    HonestHints,
    directions_of,
    link_ahead,
    link_toward,
    words_for,
)

MAX_STEPS = 40
"""Largest number of actions of a walk (V-IRL's limit)."""
TRIES = 3
"""Number of times that a mind is asked for an action that is possible. Chosen."""
LEADS_ON = "the street leads on"
"""Reason recorded for a step along a street that is taken without asking the mind."""
CIRCLES = 2
"""Number of arrivals at a panorama with one heading, above which a walker counts as lost. Chosen."""
TURNS_IN_A_ROW = 5
"""Number of turns in a row that mean that the walker does not know where to go (V-IRL's code)."""
_END = re.compile(r"(?<=[.!?;])(?<!\bSt\.)(?<!\bMt\.)(?<!\bDr\.)(?<!\bAve\.)(?<!\bNo\.)\s+")
MAX_SENTENCES = 40
"""Largest number of sentences of directions that are read. Chosen: nobody remembers more."""


@dataclass(slots=True)
class TouristNavigator:
    """A navigator that follows directions in words by sight alone.

    It is given no destination and no route. In paper mode its hints know where the route turns, as in V-IRL;
    the honest hints know nothing.
    """

    streetview: StreetView
    mover: Mover
    mind: Mind
    spotter: LandmarkSpotter
    instruction: str
    """Text of the directions."""
    _: KW_ONLY
    hints: CrossingHints = field(default_factory=HonestHints)
    max_steps: int = MAX_STEPS
    landmarks: tuple[str, ...] | None = None
    """Names of landmarks to look for; `None` asks the mind, once a walk, which the directions name."""
    sparing: bool = False
    """True to ask the mind only where there is something to decide, not along a street."""
    prompts: Prompts = OUR_PROMPTS
    transcript: list[TranscriptEntry] = field(default_factory=list)
    """Observations and actions of the last walk, in order."""
    observations: list[ArrivalObservation] = field(default_factory=list)
    """Observations of the transcript with what was seen where; none from before a walk was resumed."""
    poses: list[Pose] = field(default_factory=list)
    """Pose of the walker at each entry of the transcript."""

    def walk(self, start: Pose, done: Sequence[tuple[Pose, TranscriptEntry]] = ()) -> Iterator[Step]:
        """Yield a walk's steps, an action each, the start first, or those after `done` of a resumed walk.

        Raises:
            MindFailed: the model gave no reply within its retries.
            NoImagery: the spotter has no view at a panorama.
        """
        self.transcript = [entry for _, entry in done]
        self.poses = [pose for pose, _ in done]
        self.observations = []
        sentences = split_sentences(self.instruction)
        if self.landmarks is None:
            prompt = self.prompts.load("movement/tourist-landmarks", LandmarkNames)
            self.landmarks = self.mind.ask(prompt, directions=self.instruction).names
        before = self.mover.links(self.poses[-1]) if self.poses else ()
        pose = start
        # The first step of a resumed walk came over a link from the last one done.
        metres = next((link.distance for link in before if link.pano_id == start.pano_id), 0.0)
        for index in range(len(done), self.max_steps + 1):
            panorama = self.streetview.panorama(pose.pano_id)
            step = Step(
                index,
                pose,
                panorama,
                metres,
                partial(self._choose, pose, panorama, sentences, self.landmarks),
                ways=partial(self.mover.links, pose),
                steered=partial(self._be_led, pose),
                last=index == self.max_steps,
                streetview=self.streetview,
                task=self.instruction,
            )
            yield step
            link = step.choice.link
            if link is None:
                return
            pose, metres = self.mover.take(Pose(panorama.id, link.heading), link), link.distance

    @property
    def _came_from(self) -> str | None:
        """Id of the panorama of the step before; `None` at the start."""
        return self.poses[-1].pano_id if self.poses else None

    def _choose(
        self, pose: Pose, panorama: Panorama, sentences: Sequence[str], names: Sequence[str]
    ) -> Choice:
        """Look for `names` at a pose, choose (by the mind if needed), record sights and choice; return it."""
        links = self.mover.links(pose)
        observation = self._observe(pose, panorama, links, names)
        self.observations.append(observation)
        act, link = self._decide(pose, links, observation, sentences)
        self.transcript.append(TranscriptEntry(observation.to_prompt(), act))
        self.poses.append(pose)
        ended = None
        if link is None:
            ended = Outcome("arrived" if act.action == "stop" else "lost", act.reason)
        return Choice(link, f"{act.words}: {act.reason}", outcome=ended)

    def _be_led(self, pose: Pose, choice: Choice) -> None:
        """Record the choice that a user or other decider made at a pose, where nothing is looked for."""
        seen = ArrivalObservation(
            pose.heading, been_here=any(one.pano_id == pose.pano_id for one in self.poses)
        )
        links, doing = self.mover.links(pose), self._sentence_number
        if choice.link is None:
            act = Act("stop", sentence=doing, reason=choice.reason, decided_by=choice.decided_by)
        else:
            action, direction = words_for(links, pose.heading, self._came_from, choice.link)
            act = Act(action, direction, doing, choice.reason, decided_by=choice.decided_by)
        self.observations.append(seen)
        self.transcript.append(TranscriptEntry(seen.to_prompt(), act))
        self.poses.append(pose)

    @property
    def _sentence_number(self) -> int:
        """Number of the sentence that is being carried out, from 1."""
        return self.transcript[-1].act.sentence if self.transcript else 1

    def _observe(
        self, pose: Pose, panorama: Panorama, links: Sequence[Link], names: Sequence[str]
    ) -> ArrivalObservation:
        """Return what is seen at a pose: those of `names`; ways too at the start, ends and told crossings."""
        crossing = self.hints.tells(panorama)
        first = not self.poses
        ends = len(links) == 1
        return ArrivalObservation(
            pose.heading,
            tuple(self.spotter.spot(pose, names, thorough=crossing or first or ends)),
            len(links) if crossing else None,
            directions_of(links, pose.heading, self._came_from) if crossing or first or ends else (),
            been_here=any(before.pano_id == pose.pano_id for before in self.poses),
        )

    def _decide(
        self, pose: Pose, links: Sequence[Link], observation: ArrivalObservation, sentences: Sequence[str]
    ) -> tuple[Act, Link | None]:
        """Return (action that can be carried out, link that it takes; `None` to stop or give up)."""
        # Only what the walker has done since a user last decided can have led it astray.
        led = max((number for number, one in enumerate(self.transcript, 1) if one.act.decided_by), default=0)
        actions = [entry.act.action for entry in self.transcript[led:]]
        doing, wrong = self._sentence_number, reason_to_be_lost([*self.poses[led:], pose], actions)
        if wrong is None and len(self.transcript) >= self.max_steps:
            wrong = f"I have walked {self.max_steps} steps and have not arrived"
        if wrong is not None:
            return Act("lost", sentence=doing, reason=wrong), None
        if (onward := self._only_way_on(links, observation)) is not None:
            return Act("forward", sentence=doing, reason=LEADS_ON), onward
        refused: list[str] = []
        while len(refused) < TRIES:
            reply = self.mind.ask(
                self.prompts.load("movement/tourist-action", WalkAction),
                sentences=list(sentences),
                landmarks=list(self.landmarks or ()),
                walk=[entry.to_prompt() for entry in self.transcript],
                here=observation.to_prompt(),
                refused=list(refused),
            )
            act = Act(reply.action, reply.direction or "", reply.sentence, reply.reason, tuple(refused))
            link = None
            if act.action == "forward":
                link = link_ahead(links, observation.heading, self._came_from)
            elif act.action == "turn":
                link = link_toward(links, observation.heading, act.direction)
            if link is not None or act.action in ("stop", "lost"):
                return act, link
            leaving = ", ".join(directions_of(links, observation.heading, self._came_from))
            refused.append(f"{act.words!r} cannot be done: from here ways lead {leaving or 'nowhere'}")
        reason = f"no way to go on: {refused[-1]}"
        return Act("lost", sentence=doing, reason=reason, refused=tuple(refused)), None

    def _only_way_on(self, links: Sequence[Link], observation: ArrivalObservation) -> Link | None:
        """Return the only link onward where there is nothing to decide; `None` elsewhere."""
        if not (self.sparing and self.transcript):
            return None
        seen_before = bool(self.transcript[-1].observed["seen"])
        here = observation
        if here.seen or here.crossing is not None or here.ways or here.been_here or seen_before:
            return None
        return link_ahead(links, here.heading, self._came_from)


def reason_to_be_lost(poses: Sequence[Pose], actions: Sequence[str]) -> str | None:
    """Return why a walker seems to be lost, by its poses, the present one last, and actions; else `None`."""
    here = poses[-1]
    facings = Counter((pose.pano_id, round(pose.heading / 45.0) % 8) for pose in poses)
    if facings[here.pano_id, round(here.heading / 45.0) % 8] > CIRCLES:
        return "I am going in circles: I have walked here before, the same way"
    if len(actions) >= TURNS_IN_A_ROW and all(action == "turn" for action in actions[-TURNS_IN_A_ROW:]):
        return f"I have done nothing but turn, {TURNS_IN_A_ROW} times"
    return None


def split_sentences(text: str) -> tuple[str, ...]:
    """Return the first `MAX_SENTENCES` sentences of a text, whitespace tidied; at least one, maybe empty."""
    tidy = " ".join(text.split())
    parts = [part for part in _END.split(tidy) if part]
    return tuple(parts[:MAX_SENTENCES]) or ("",)
