"""Who searches: baselines that know more or see nothing, Iris, and the published prompts for any model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from virl.errors import BadInput, MindFailed, UnknownName
from virl.geo.globe import LatLng, bearing, egocentric_word, signed_turn
from virl.mind.base import Mind, Pictures
from virl.mind.prompt import load_prompt
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Camera, Link, Pose, View
from virl.platform.movers.base import Choice
from virl.platform.navigators.instruction.baselines import HUMAN
from virl.platform.navigators.intention.rules import RoadChoice
from virl.platform.navigators.sight.explorer import Abilities
from virl.platform.navigators.sight.looking import SignLooks
from virl.platform.navigators.sight.navigator import Explorer
from virl.platform.navigators.sight.rules import VerbalizedChoice

from .episodes import Search

ROAD_FOV = 60.0  # as in V-IRL
LAST_DECISIONS = 10  # told of; chosen: a question stays within 2,000 tokens
IN_SIGHT = Outcome("arrived", "the target is in sight")

ABILITIES = {
    "iris": Abilities(),
    "iris@no-map": Abilities(remembers=False),
    "iris@fronts": Abilities(reads_fronts=True),
    "iris@no-signs": Abilities(looks_far=False),
    "iris@no-backtracking": Abilities(goes_back=False),
}
ASKED = ("plain", "verbalized")
WALKERS = ("oracle", "greedy", "random", "forward", *ABILITIES, *ASKED, HUMAN)
SEES_ITSELF = frozenset({*ABILITIES, HUMAN})
"""Searchers that have to notice arrival themselves; others are stopped there, as AgentNav's are."""


def check_walker(name: str) -> None:
    """Raise UnknownName if there is no searcher with this name.

    Raises:
        UnknownName: there is none.
    """
    if name not in WALKERS:
        raise UnknownName("walker", name, list(WALKERS))


@dataclass(slots=True)
class StoppingExplorer:
    """An explorer that is stopped on arrival at one of the `reached` panoramas."""

    explorer: Explorer
    reached: frozenset[str]

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        """Return "arrived" at a reached panorama, else what the inner explorer returns."""
        return IN_SIGHT if pose.pano_id in self.reached else self.explorer.arrive(pose, links)

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Return the inner explorer's choice of a link."""
        return self.explorer.choose(pose, links, back)


class EndingExplorer:
    """An explorer that ends the walk when its mind gives no usable reply."""

    def __init__(self, make: Callable[[], Explorer]) -> None:
        """Make the inner explorer by `make`, which may already fail to get a reply."""
        self.failure: MindFailed | None = None
        """The failure that ended the walk; `None` if none did."""
        try:
            self._explorer = make()
        except MindFailed as fault:
            self.failure = fault

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        """Return the inner explorer's outcome; the end of the walk if its mind fails."""
        if self.failure:
            return self._end(self.failure)
        try:
            return self._explorer.arrive(pose, links)
        except MindFailed as fault:
            return self._end(fault)

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Return the inner explorer's choice; the end of the walk if its mind fails."""
        try:
            return self._explorer.choose(pose, links, back)
        except MindFailed as fault:
            return Choice.end(self._end(fault))

    def _end(self, fault: MindFailed) -> Outcome:
        """Keep the failure, and return the outcome that ends the walk."""
        self.failure = fault
        return Outcome("no reply", str(fault))


@dataclass(frozen=True, slots=True)
class BlindSearcher:
    """An explorer that sees nothing, and takes a link by a rule until somebody stops it."""

    rule: Callable[[Pose, Sequence[Link]], Link]
    """Function from a pose and the links to choose from to one of the links."""
    reason: str
    """Reason that is recorded for each choice."""
    may_go_back: bool = False
    """True if the link back is among those to choose from, even where there are others."""

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:  # noqa: ARG002 - sees nothing
        """Return `None`: the walk goes on."""
        return None

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Return the link that the rule takes."""
        ahead = [link for link in links if self.may_go_back or link != back] or list(links)
        return Choice(self.rule(pose, ahead), self.reason)


@dataclass(slots=True)
class AskedSearcher:
    """An explorer that asks a mind at each junction, with a picture of each way, by published prompts.

    `verbalized` adds AgentNav's aids (arXiv 2512.15933): the way in words, a memory that the mind rewrites,
    the last decisions, and how often each way was taken.

    Args:
        mind: who is asked.
        looks: reads signs down the ways.
        task: what is looked for.
        picture: of the target, where it is told by one.
        verbalized: whether the aids are given.
    """

    mind: Mind
    looks: SignLooks
    task: str
    picture: View | None = None
    verbalized: bool = False
    _remembered: str = "nothing yet"
    _history: list[str] = field(default_factory=list)
    _taken: dict[tuple[str, str], int] = field(default_factory=dict)

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:  # noqa: ARG002 - is told of it
        """Return `None`: the walk goes on."""
        return None

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:  # noqa: ARG002
        """Return the link that the mind chooses."""
        ways = sorted(links, key=lambda link: abs(signed_turn(pose.heading, link.heading)))
        views = [
            self.looks.streetview.view(pose.pano_id, Camera(link.heading, fov=ROAD_FOV)) for link in ways
        ]
        self.looks.views += len(views)
        images = {f"Way {index}": view.pixels for index, view in enumerate(views)}
        if self.picture:
            images["The place looked for"] = self.picture.pixels
        roads = [
            {
                "index": index,
                "description": self._describe_way(pose, link),
                "turn": abs(signed_turn(pose.heading, link.heading)),
            }
            for index, link in enumerate(ways)
        ]
        reply = self._ask(roads, images)
        link = ways[reply.index]
        self._taken[pose.pano_id, link.pano_id] = self._taken.get((pose.pano_id, link.pano_id), 0) + 1
        self._history.append(f"{egocentric_word(pose.heading, link.heading)}: {reply.reason}"[:160])
        return Choice(link, reply.reason)

    def _ask(self, roads: list[dict[str, object]], images: Pictures) -> RoadChoice:
        """Return the mind's reply on which road to take; verbalized, with its memory and history."""
        if not self.verbalized:
            plain = load_prompt("movement/sight-plain", RoadChoice)
            return self.mind.ask(plain, images=images, task=self.task, roads=roads)
        reply = self.mind.ask(
            load_prompt("movement/sight-verbalized", VerbalizedChoice),
            images=images,
            task=self.task,
            roads=roads,
            remembered=self._remembered,
            history=self._history[-LAST_DECISIONS:],
        )
        self._remembered = reply.remember or self._remembered
        return reply

    def _describe_way(self, pose: Pose, link: Link) -> str:
        """Return a way on in words: direction, signs read along it, and how often it was taken."""
        signs = [one.sign.text[:40] for one in self.looks.signs_down(pose.pano_id, link)[:3]]
        told = egocentric_word(pose.heading, link.heading)
        told += f"; signs: {', '.join(map(repr, signs))}" if signs else "; no signs read"
        taken = self._taken.get((pose.pano_id, link.pano_id), 0)
        return f"{told}; taken {taken} times before" if self.verbalized else told


def baseline_of(
    name: str, search: Search, graph: NavigationGraph, left: Sequence[float], target: LatLng, seed: int
) -> Explorer:
    """Return the baseline with this name, which sees nothing, stopped where the search is reached.

    Args:
        name: of the baseline.
        search: its episode.
        graph: of the city.
        left: metres from each node to the target.
        target: position of the place.
        seed: for random walks.

    Raises:
        BadInput: there is no such baseline.
    """
    chance = Random(f"{seed} {search.start} {search.told}")

    def to_target(pose: Pose, links: Sequence[Link]) -> Link:
        """Return the link that points best to the target."""
        return _link_toward(links, bearing(graph.position(graph.number(pose.pano_id)), target))

    def shortest(_: Pose, links: Sequence[Link]) -> Link:
        """Return the next link of a shortest way."""
        return min(links, key=lambda link: left[graph.number(link.pano_id)] + link.distance)

    made = {
        "random": BlindSearcher(lambda _, links: chance.choice(links), "by chance"),
        "forward": forward_searcher(),
        "greedy": BlindSearcher(to_target, "it points to the target best"),
        "oracle": BlindSearcher(shortest, "the shortest way", may_go_back=True),
    }
    if name not in made:
        raise BadInput(f"{name!r} is no baseline")
    return StoppingExplorer(made[name], frozenset(search.reached))


def forward_searcher() -> BlindSearcher:
    """Return an explorer that goes straight on, back only if it must."""
    return BlindSearcher(lambda pose, links: _link_toward(links, pose.heading), "straight on")


def _link_toward(links: Sequence[Link], heading: float) -> Link:
    """Return the link whose heading is nearest to `heading`, degrees."""
    return min(links, key=lambda link: abs(signed_turn(heading, link.heading)))
