"""What is looked for, and whether signs show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

from virl.geo import signed_turn
from virl.platform.movement.instruction.tourist.signs import MIN_RESEMBLANCE, name_likeness
from virl.platform.movement.sight.looking import KnownSign
from virl.platform.movement.sight.signposts import Pointer

COMMON = frozenset({"restaurant", "bar", "cafe"})
"""Kinds that many a place stands beside. Chosen: nearly every other place of a made town is one."""
BESIDE_DEG = 60.0
"""Degrees between a place and a neighbour, as they are seen from a street. Chosen."""
MOST_HINTS = 3
"""Signs looked at more closely at a panorama. Chosen."""
LONG_WORD, MIN_WORD = 3, 75.0
"""Letters of a word that has to stand on a sign, and how much of it does, of 100. Chosen: a letter in
four may be misread."""


@dataclass(frozen=True, slots=True)
class SightGoal:
    """A place that is known by its name, its kind and what stands beside it, or what it is good for."""

    told: str
    """As it was told, or the words on a picture of its front."""
    name: str = ""
    """Empty if none was told; then it is known by the rest."""
    kinds: tuple[str, ...] = ()
    """Place types one of which it has."""
    beside: tuple[str, ...] = ()
    """Place types of its neighbours, all of which are there."""

    def hinted_by(self, signs: Sequence[KnownSign], near: Sequence[KnownSign] = ()) -> list[KnownSign]:
        """The signs that may show the goal, and are worth a closer look; those that show most of it first.

        Args:
            signs: seen from one panorama.
            near: seen from others near by, which may be its neighbours'.
        """
        signs = _fronts(signs)
        if not self.name:
            shown = self.shown_by(signs, near)
            return [shown] if shown else []
        likely = {one: name_likeness(one.sign.text, self.name) for one in signs}
        hints = [one for one in signs if likely[one] >= MIN_RESEMBLANCE]
        return sorted(hints, key=lambda one: (not self._names(one), -likely[one]))[:MOST_HINTS]

    def shown_by(self, signs: Sequence[KnownSign], near: Sequence[KnownSign] = ()) -> KnownSign | None:
        """The sign among those seen from one panorama that shows the goal; `None` if none does.

        Signposts do not. Of two neighbours, one is enough that is not of the `COMMON` kinds and that is seen
        beside it: not every sign tells what it stands for.

        Args:
            signs: as for `hinted_by`.
            near: as for `hinted_by`.
        """
        signs = _fronts(signs)
        if self.name:
            return next((one for one in signs if self._names(one)), None)
        near = _fronts(near) if self.beside else []
        own = (one for one in [*signs, *near] if set(one.kinds) & set(self.kinds))
        return next((one for one in own if self._stands_there(one, signs, near)), None)

    def _stands_there(self, own: KnownSign, signs: Sequence[KnownSign], near: Sequence[KnownSign]) -> bool:
        others = [one for one in [*signs, *near] if one != own]
        if all(_is_there(kind, others) for kind in self.beside):
            return True
        beside = [one for one in signs if one != own and _apart(one, own) < BESIDE_DEG]
        return own in signs and any(_is_there(kind, beside) for kind in self.beside if kind not in COMMON)

    def pointed_by(self, signs: Sequence[KnownSign]) -> list[Pointer]:
        """What signposts point to that may be the goal, whatever stands beside it, the nearest first."""
        pointers = [
            one.points_to
            for one in signs
            if one.points_to and (self._names(one) if self.name else set(one.kinds) & set(self.kinds))
        ]
        return sorted(pointers, key=lambda pointer: pointer.metres)

    def _names(self, one: KnownSign) -> bool:
        """Whether each word of the name is there: "Mill Street Bakery" is not "Spring Street Bakery"."""
        text = one.points_to.name if one.points_to else one.sign.text
        if name_likeness(text, self.name) < MIN_RESEMBLANCE:
            return False
        read = "".join(utils.default_process(text).split())
        words = [word for word in utils.default_process(self.name).split() if len(word) >= LONG_WORD]
        return all(fuzz.partial_ratio(word, read) >= MIN_WORD for word in words)


def _is_there(kind: str, signs: Sequence[KnownSign]) -> bool:
    """Whether one of the signs tells of a kind, or of a wider one, as `school` of a `secondary_school`."""
    return any(kind == told or kind.endswith(f"_{told}") for one in signs for told in one.kinds)


def _apart(one: KnownSign, other: KnownSign) -> float:
    return abs(signed_turn(one.sign.heading, other.sign.heading))


def _fronts(signs: Sequence[KnownSign]) -> list[KnownSign]:
    return [one for one in signs if one.points_to is None]
