"""What is looked for, and whether signs show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

from virl.platform.movement.instruction.tourist.signs import MIN_RESEMBLANCE, name_likeness
from virl.platform.movement.sight.looking import KnownSign

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

    def hinted_by(self, signs: Sequence[KnownSign]) -> list[KnownSign]:
        """The signs that may show the goal, and are worth a closer look; those that show most of it first."""
        if not self.name:
            shown = self.shown_by(signs)
            return [shown] if shown else []
        likely = {one: name_likeness(one.sign.text, self.name) for one in signs}
        hints = [one for one in signs if likely[one] >= MIN_RESEMBLANCE]
        return sorted(hints, key=lambda one: (not self._names(one), -likely[one]))[:MOST_HINTS]

    def shown_by(self, signs: Sequence[KnownSign]) -> KnownSign | None:
        """The sign among those seen from one panorama that shows the goal; `None` if none does."""
        if self.name:
            return next((one for one in signs if self._names(one)), None)
        own = [one for one in signs if set(one.kinds) & set(self.kinds)]
        if self.beside and not all(any(kind in one.kinds for one in signs) for kind in self.beside):
            return None
        return own[0] if own else None

    def _names(self, one: KnownSign) -> bool:
        """Whether each word of the name is there: "Mill Street Bakery" is not "Spring Street Bakery"."""
        if name_likeness(one.sign.text, self.name) < MIN_RESEMBLANCE:
            return False
        read = "".join(utils.default_process(one.sign.text).split())
        words = [word for word in utils.default_process(self.name).split() if len(word) >= LONG_WORD]
        return all(fuzz.partial_ratio(word, read) >= MIN_WORD for word in words)
