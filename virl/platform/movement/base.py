"""The contracts of movement: movers take links, navigators choose them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from virl.platform.streetview import Link, Panorama, Pose, View


class Mover(Protocol):
    """Says which links leave a pose, and takes one."""

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """The links that leave a pose, by heading.

        Raises:
            NoStreetView: the pose stands at no panorama.
        """
        ...

    def take(self, pose: Pose, link: Link) -> Pose:
        """The pose at the other end of a link, facing the way it led.

        Raises:
            BadInput: the link does not leave this pose.
            NoStreetView: the link leads nowhere.
        """
        ...


@dataclass(frozen=True, slots=True)
class Road:
    """A way that could be taken from a crossing, as seen from it."""

    link: Link
    view: View
    description: str


@dataclass(frozen=True, slots=True)
class Choice:
    """Where a navigator goes next, and why."""

    link: Link | None
    """`None` to stop."""
    reason: str
    roads: tuple[Road, ...] = ()
    """What was looked at before choosing, in the order of their numbers; empty where nothing was asked."""


@dataclass(frozen=True)
class Step:
    """An arrival. What comes next is chosen when `choice` is first read, or when the walk goes on."""

    index: int
    """0 at the start, then one more for each move."""
    pose: Pose
    """Where it arrived, and which way it faces."""
    panorama: Panorama
    """The one it stands at."""
    distance: float
    """Metres walked to get here from the step before."""
    choose: Callable[[], Choice]
    """Decides what comes next; read `choice` instead."""
    _chosen: list[Choice] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def choice(self) -> Choice:
        """Where the navigator goes from here; asked once."""
        # Before Python 3.12 a cached_property has one lock for all steps: walks would wait for each other.
        if not self._chosen:
            self._chosen.append(self.choose())
        return self._chosen[0]


class Navigator(Protocol):
    """Decides which link to take next, and when to stop."""

    def walk(self, start: Pose) -> Iterator[Step]:
        """The steps of a walk, the start first."""
        ...
