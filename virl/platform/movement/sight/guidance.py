"""Following signposts: each once, and none to a place that was passed and is not the goal."""

from collections.abc import Iterable, Sequence

from virl.platform.movement.instruction.tourist.signs import MIN_RESEMBLANCE, name_likeness
from virl.platform.movement.sight.goal import SightGoal
from virl.platform.movement.sight.looking import KnownSign
from virl.platform.movement.sight.signposts import Pointer
from virl.platform.streetview import Link


class Guidance:
    """What signposts tell one walker of its goal.

    Args:
        goal: what is looked for.
    """

    def __init__(self, goal: SightGoal) -> None:
        self._goal = goal
        self._followed: set[tuple[str, str]] = set()
        self._to: set[str] = set()
        self._passed: set[str] = set()
        self.has_signposts = False
        """Whether the walker has read a signpost: its city may have more."""

    def see(self, signs: Sequence[KnownSign]) -> None:
        """Note whether signposts are among signs."""
        self.has_signposts = self.has_signposts or any(one.points_to for one in signs)

    def pass_by(self, signs: Sequence[KnownSign]) -> None:
        """Note the fronts that do not show the goal; a goal that is told by name may be read from nearer."""
        if not self._goal.name:
            self._passed |= {name for name in self._to if _stands_there(signs, name)}

    def pointers(self, signs: Sequence[KnownSign]) -> list[Pointer]:
        """What signs point to that may still be the goal, the nearest first."""
        return [one for one in self._goal.pointed_by(signs) if one.name not in self._passed]

    def follow(
        self, pano_id: str, ways: Iterable[tuple[Link, Sequence[KnownSign]]]
    ) -> tuple[Link, Pointer] | None:
        """The way to which a signpost points that was not followed yet, the nearest goal first.

        Args:
            pano_id: where the walker stands.
            ways: each with the signs that were read down it.
        """
        found = [
            (pointer.metres, number, link, pointer)
            for number, (link, signs) in enumerate(ways)
            if (pano_id, link.pano_id) not in self._followed
            for pointer in self.pointers(signs)
        ]
        if not found:
            return None
        *_, link, pointer = min(found, key=lambda one: one[:2])
        self._followed.add((pano_id, link.pano_id))
        self._to.add(pointer.name)
        return link, pointer


def _stands_there(signs: Sequence[KnownSign], name: str) -> bool:
    return any(
        one.points_to is None and name_likeness(one.sign.text, name) >= MIN_RESEMBLANCE for one in signs
    )
