"""The `sight` navigator: walk along streets without a choice, and let an explorer decide where ways part."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from typing import Protocol

from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Pose, StreetView
from virl.platform.movers.base import Choice, Mover, Step

SPENT = Outcome("limit", "the limit of decisions and moves is reached, and the goal was not seen")
"""Outcome of a walk that has used up its decisions or moves."""


class Explorer(Protocol):
    """A searcher that looks around at each panorama of a walk, and chooses a way at each junction."""

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        """Look around at a pose with its links; return the outcome if the walk ends here, else `None`."""
        ...

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Return the choice of a link at a junction, `back` being the way come by, or the walk's end.

        Args:
            pose: where the walker stands.
            links: the ways that lead on, `back` included.
            back: the way it came by; `None` at the start.
        """
        ...


@dataclass
class SightNavigator:
    """A navigator that walks through streets and asks an explorer at junctions only, as AgentNav does.

    AgentNav is arXiv 2512.15933.
    """

    streetview: StreetView
    mover: Mover
    """Mover that says which ways lead on from a pose."""
    explorer: Explorer
    """Explorer that looks at each panorama and decides at junctions."""
    _: KW_ONLY
    max_decisions: int
    """Number of decisions after which the walk ends at the next junction."""
    max_moves: int
    """Number of moves after which the walk ends."""
    task: str = ""
    """Text of what is looked for, for a person who steers the walk."""
    decisions: int = field(default=0, init=False)
    """Number of junctions decided so far."""

    def walk(self, start: Pose) -> Iterator[Step]:
        """Yield the steps of a walk, the start first."""
        pose, came_from = start, ""
        for index in range(self.max_moves + 1):
            links = self.mover.links(pose)
            back = next((link for link in links if link.pano_id == came_from), None)
            # At the start any second way is a choice; later one way is the one come by.
            is_junction = len(links) > (1 if back is None else 2)
            spent = is_junction and self.decisions >= self.max_decisions
            last = spent or index == self.max_moves
            step = Step(
                index,
                pose,
                self.streetview.panorama(pose.pano_id),
                back.distance if back else 0.0,
                partial(self._choose, pose, links, back, is_junction=is_junction, last=last),
                ways=lambda links=links: links,  # type: ignore[misc]
                last=last,
                streetview=self.streetview,
                task=self.task,
            )
            yield step
            link = step.choice.link
            if link is None:
                return
            self.decisions += is_junction
            came_from, pose = pose.pano_id, self.mover.take(pose, link)

    def _choose(
        self, pose: Pose, links: Sequence[Link], back: Link | None, *, is_junction: bool, last: bool
    ) -> Choice:
        """Return the choice at a pose: the explorer's at a junction, the only way on, the end if `last`."""
        if ended := self.explorer.arrive(pose, links):
            return Choice.end(ended)
        if last:
            return Choice.end(SPENT)
        if not links:
            return Choice.end(Outcome("blocked"))
        if is_junction:
            return self.explorer.choose(pose, links, back)
        ahead = [link for link in links if link != back]
        return Choice(ahead[0], "the only way on") if ahead else Choice(links[0], "a dead end, so back")
