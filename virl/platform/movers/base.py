"""The contracts of movement: movers take links, navigators choose them; and `links`, the plainest mover."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Protocol, Self

from virl.errors import BadInput
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Panorama, Pose, StreetView, View


class Mover(Protocol):
    """A source of the links that leave a pose, which also moves along one."""

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, sorted by heading.

        Raises:
            NoStreetView: the pose stands at no panorama.
        """
        ...

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose after moving along a link, facing the way the link led.

        Raises:
            BadInput: the link does not leave this pose.
            NoStreetView: the link leads nowhere.
        """
        ...


@dataclass(frozen=True, slots=True)
class Road:
    """A street that a walker could take from a crossing, with the view down it."""

    link: Link
    """Link to take now for the street: its first one, or one on the way back to a street seen before."""
    view: View
    """View down the street."""
    description: str
    """Description of the view in words; empty where none was made."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A navigator's decision at a crossing: the link to take, or to stop, and the reason."""

    link: Link | None
    """The link to take; `None` to stop."""
    reason: str
    """Reason of the decision, a phrase or sentence."""
    roads: tuple[Road, ...] = ()
    """Roads looked at before the choice, in the order of their numbers; empty if nothing was asked."""
    decided_by: str = ""
    """Decider that chose in the navigator's place, such as `user`; empty if the navigator chose."""
    outcome: Outcome | None = None
    """Outcome of the walk, if the choice ends it; else `None`."""

    @classmethod
    def end(cls, outcome: Outcome, decided_by: str = "") -> Self:
        """Return the choice to end the walk with an outcome, made by `decided_by`, else by the navigator."""
        return cls(None, outcome.sentence, decided_by=decided_by, outcome=outcome)


@dataclass(frozen=True)
class Step:
    """A walker's arrival at a panorama, from which the next link is chosen when `choice` is first read."""

    index: int
    """Number of moves so far: 0 at the start."""
    pose: Pose
    """Panorama arrived at, by id, and heading faced, degrees."""
    panorama: Panorama
    """Panorama at which the walker stands."""
    distance: float
    """Length of the move that led here, metres."""
    choose: Callable[[], Choice]
    """Function that makes the navigator's choice, anew on each call; read `choice` instead."""
    ways: Callable[[], tuple[Link, ...]] | None = None
    """Function that returns the links a decider may take; `None` for those of the panorama."""
    steered: Callable[[Choice], None] | None = None
    """Function called with a choice that the navigator did not make, before the walk goes on with it."""
    last: bool = False
    """True if no move is left, so that only the navigator is asked."""
    streetview: StreetView | None = None
    """Street view in which a decider looks around before choosing; `None` for none."""
    task: str = ""
    """Task of the walk, shown to a decider other than the navigator, such as the directions to follow."""
    _chosen: list[Choice] = field(default_factory=list, init=False, repr=False, compare=False)

    @property
    def choice(self) -> Choice:
        """Choice made here: by whoever steers the walk, else by the navigator; asked for once."""
        # Before Python 3.12 a cached_property has one lock for all steps: walks would wait for each other.
        if not self._chosen:
            self.settle(self.steered_choice() or self.choose())
        return self._chosen[0]

    def steered_choice(self) -> Choice | None:
        """Return the choice of the decider who steers the walk; `None` if the navigator is to choose."""
        steering = None if self.last else _STEERING.get()
        return steering.decide(self) if steering else None

    @property
    def decided_by(self) -> str:
        """Decider that chose in the navigator's place; empty if it chose itself, or nothing is chosen yet."""
        return self._chosen[0].decided_by if self._chosen else ""

    @property
    def links(self) -> tuple[Link, ...]:
        """Links that a decider other than the navigator may take from here.

        Raises:
            NoStreetView: the pose stands at no panorama.
        """
        return self.panorama.links if self.ways is None else self.ways()

    def with_index(self, index: int) -> "Step":
        """Return a copy of this step with another index; a choice that was made is kept."""
        step = replace(self, index=index)
        step._chosen.extend(self._chosen)  # noqa: SLF001 - of its own class
        return step

    def settle(self, choice: Choice) -> None:
        """Set the choice to one that a journal recorded, so that nobody is asked."""
        self._chosen[:] = [choice]
        if choice.decided_by and self.steered:
            self.steered(choice)


class Steering(Protocol):
    """A decider, such as a user, that may choose links in the navigator's place."""

    def decide(self, step: Step) -> Choice | None:
        """Return the choice at a step, along one of its `links`; `None` leaves it to the navigator."""
        ...


def is_steered() -> bool:
    """Return whether walks of this context ask a `Steering` before the navigator."""
    return _STEERING.get() is not None


_STEERING: ContextVar[Steering | None] = ContextVar("steering", default=None)


@contextmanager
def steered_by(steering: Steering | None) -> Iterator[None]:
    """Make walks within the block ask `steering` for each choice before their navigator; nobody if `None`."""
    token = _STEERING.set(steering)
    try:
        yield
    finally:
        _STEERING.reset(token)


@dataclass(eq=False)
class LinksMover:
    """A mover along the links that the provider of street view lists for a panorama."""

    streetview: StreetView

    def links(self, pose: Pose) -> tuple[Link, ...]:
        """Return the links that leave a pose, sorted by heading."""
        panorama = self.streetview.panorama(pose.pano_id)
        return tuple(sorted(panorama.links, key=lambda link: link.heading))

    def take(self, pose: Pose, link: Link) -> Pose:
        """Return the pose after moving along a link, facing the way the link led."""
        if link not in self.links(pose):
            raise BadInput(f"no link to {link.pano_id!r} leaves panorama {pose.pano_id!r}")
        return Pose(self.streetview.panorama(link.pano_id).id, link.heading)
