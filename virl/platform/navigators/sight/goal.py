"""What is looked for: how it is understood from a task, and whether signs show it."""

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

from virl.mind.base import Mind
from virl.mind.prompt import OUR_PROMPTS, Prompts
from virl.platform.city.places import Moment
from virl.platform.city.streetview import Image, view_of_picture
from virl.platform.navigators.sight.looking import KnownSign, Pointer, SignLooks
from virl.platform.navigators.sight.rules import Sought
from virl.platform.navigators.tourist.signs import MIN_RESEMBLANCE, name_likeness, signs_of

MOST_HINTS = 3
"""Largest number of signs that are looked at more closely at a panorama. Chosen."""
LONG_WORD, MIN_WORD = 3, 75.0
"""(least letters of a word that is sought on a sign, least likeness, 0 to 100, for it to be found).
Chosen: a letter in four may be misread."""


@dataclass(frozen=True, slots=True)
class SightGoal:
    """A place to find: by its name, or by its place type and its neighbours."""

    told: str
    """Text of the task as the user wrote it."""
    name: str = ""
    """Name of the place; empty if the task tells none."""
    kinds: tuple[str, ...] = ()
    """Place types, of which the goal has at least one."""
    beside: tuple[str, ...] = ()
    """Place types of neighbours, each of which stands beside the goal."""
    moment: Moment | None = None
    """Day and minute of the search; `None` if unknown."""

    def hinted_by(self, signs: Sequence[KnownSign]) -> list[KnownSign]:
        """Return the signs to look at more closely as they may show the goal, the likeliest first."""
        signs = _fronts(signs)
        if not self.name:
            shown = self.shown_by(signs)
            return [shown] if shown else []
        likely = {one: name_likeness(one.sign.text, self.name) for one in signs}
        hints = [one for one in signs if likely[one] >= MIN_RESEMBLANCE]
        return sorted(hints, key=lambda one: (not self._names(one), -likely[one]))[:MOST_HINTS]

    def shown_by(self, signs: Sequence[KnownSign]) -> KnownSign | None:
        """Return the first sign, no signpost, with the goal's name, or its type if unnamed; else `None`."""
        signs = _fronts(signs)
        if self.name:
            return next((one for one in signs if self._names(one)), None)
        return next((one for one in signs if set(one.kinds) & set(self.kinds)), None)

    def named_by(self, shown: KnownSign, signs: Sequence[KnownSign]) -> KnownSign:
        """Return the sign with the longest text on the front of a sign that shows the goal, as its name.

        Those of the goal's type that are no farther from the sign than it is wide are on its front.
        """
        left, _, right, _ = shown.sign.box
        front = [
            one
            for one in _fronts(signs)
            if set(one.kinds) & set(self.kinds)
            and max(one.sign.box[0] - right, left - one.sign.box[2]) <= right - left
        ]
        return max([shown, *front], key=lambda one: len(one.sign.text))

    def pointed_by(self, signs: Sequence[KnownSign]) -> list[Pointer]:
        """Return the lines of signposts to places that may be the goal, the nearest first."""
        pointers = [
            one.points_to
            for one in signs
            if one.points_to and (self._names(one) if self.name else set(one.kinds) & set(self.kinds))
        ]
        return sorted(pointers, key=lambda pointer: pointer.metres)

    def nearest_to(self, signs: Sequence[KnownSign]) -> KnownSign | None:
        """Return the sign most like the goal, even if it does not show it; `None` without one."""
        signs = _fronts(signs)
        if self.name:
            return max(signs, key=lambda one: name_likeness(one.sign.text, self.name), default=None)
        wanted = {*self.kinds, *self.beside}
        seen = next((one for one in signs if set(one.kinds) & wanted), None)
        return self.shown_by(signs) or seen

    def _names(self, one: KnownSign) -> bool:
        """Return whether a sign or signpost has each word of the goal's name, misread letters allowed."""
        text = one.points_to.name if one.points_to else one.sign.text
        if name_likeness(text, self.name) < MIN_RESEMBLANCE:
            return False
        # Joined, as a reader may split a word in two.
        read = "".join(utils.default_process(text).split())
        words = [word for word in utils.default_process(self.name).split() if len(word) >= LONG_WORD]
        return all(fuzz.partial_ratio(word, read) >= MIN_WORD for word in words)


def _fronts(signs: Sequence[KnownSign]) -> list[KnownSign]:
    """Return the signs that are no signposts."""
    return [one for one in signs if one.points_to is None]


def goal_in_words(
    task: str,
    mind: Mind,
    kinds: Sequence[str],
    prompts: Prompts = OUR_PROMPTS,
    moment: Moment | None = None,
) -> SightGoal:
    """Return the goal that a mind reads from a task in words; its place types are among `kinds`.

    Args:
        task: such as `Find the place called "Dubliner".`, or a wish.
        mind: reads it.
        kinds: place types that signs can show.
        prompts: texts of the questions to the mind.
        moment: day and minute of the search, for rules; models read them in the task.

    Raises:
        MindFailed: the mind finds nothing to look for.
    """
    prompt = prompts.load("movement/sight-goal", Sought)
    sought = mind.ask(prompt, rule_inputs={"moment": moment}, task=task, kinds=sorted(kinds))
    return SightGoal(task, sought.name, sought.kinds, sought.beside, moment)


def goal_in_picture(picture: Image, task: str, looks: SignLooks) -> SightGoal:
    """Return the goal that a picture of a shop front shows, named by the largest sign in it.

    Args:
        picture: photograph of a shop front.
        task: text of the task as the user wrote it.
        looks: reads the sign and says what it stands for.
    """
    signs = list(signs_of(view_of_picture(picture).camera, looks.reader.read([picture])[0]))
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (sign.box for sign in signs))
    text = max(zip(areas, signs, strict=True), key=lambda pair: pair[0])[1].text if signs else ""
    return SightGoal(task, text, looks.kinds_of(text))
