"""The `sight` navigator: walk along streets without a choice, and let an explorer decide where ways part."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Protocol

from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Pose, StreetView
from virl.platform.movers.base import Choice, Mover, Step

SPENT = Outcome("limit", "the limit of decisions and moves is reached, and the goal was not seen")
"""Outcome of a walk that has used up its decisions or moves."""


class Explorer(Protocol):
    """A searcher that looks around at each panorama, and chooses a way at each junction."""

    def arrive(self, pose: Pose, links: Sequence[Link]) -> Outcome | None:
        """Look around at a panorama; return the outcome if the walk ends here, `None` to go on."""
        ...

    def choose(self, pose: Pose, links: Sequence[Link], back: Link | None) -> Choice:
        """Return the choice of a link at a junction, or the end of the walk.

        Args:
            pose: where the walker stands.
            links: the ways that lead on, `back` included.
            back: the way it came by; `None` at the start.
        """
        ...


class SightNavigator:
    """A navigator that walks through streets, and asks an explorer at junctions only.

    So does AgentNav (arXiv 2512.15933).

    Args:
        streetview: what is seen.
        mover: says which ways lead on.
        explorer: looks and decides.
        max_decisions: ends the walk at the next junction.
        max_moves: ends the walk.
        task: what is looked for, for somebody who steers the walk.
    """

    def __init__(
        self,
        streetview: StreetView,
        mover: Mover,
        explorer: Explorer,
        *,
        max_decisions: int,
        max_moves: int,
        task: str = "",
    ) -> None:
        self._streetview = streetview
        self._mover = mover
        self._explorer = explorer
        self._max_decisions = max_decisions
        self._max_moves = max_moves
        self._task = task
        self.decisions = 0
        """Number of junctions decided so far."""

    def walk(self, start: Pose) -> Iterator[Step]:
        """Yield the steps of a walk, the start first."""
        pose, came_from = start, ""
        for index in range(self._max_moves + 1):
            links = self._mover.links(pose)
            back = next((link for link in links if link.pano_id == came_from), None)
            is_junction = len(links) > (1 if back is None else 2)
            spent = is_junction and self.decisions >= self._max_decisions
            last = spent or index == self._max_moves
            step = Step(
                index,
                pose,
                self._streetview.panorama(pose.pano_id),
                back.distance if back else 0.0,
                partial(self._choose, pose, links, back, is_junction=is_junction, last=last),
                ways=lambda links=links: links,  # type: ignore[misc]
                last=last,
                streetview=self._streetview,
                task=self._task,
            )
            yield step
            link = step.choice.link
            if link is None:
                return
            self.decisions += is_junction
            came_from, pose = pose.pano_id, self._mover.take(pose, link)

    def _choose(
        self, pose: Pose, links: Sequence[Link], back: Link | None, *, is_junction: bool, last: bool
    ) -> Choice:
        """Return the choice at a pose: the explorer's at a junction, the only way elsewhere, or an end."""
        if ended := self._explorer.arrive(pose, links):
            return Choice.end(ended)
        if last:
            return Choice.end(SPENT)
        if not links:
            return Choice.end(Outcome("blocked"))
        if is_junction:
            return self._explorer.choose(pose, links, back)
        ahead = [link for link in links if link != back]
        return Choice(ahead[0], "the only way on") if ahead else Choice(links[0], "a dead end, so back")
