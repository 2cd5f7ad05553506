"""Pictures that could be taken from a place, by what was read and found around it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from virl.geo.globe import LatLng, signed_float_turn
from virl.tools.looking import Find

READ_DEG = 60.0  # width of a view in which signs are read
WIDTHS_DEG = (60, 75)  # of a picture; in wider ones things are small (chosen)
MARGIN_DEG = 10.0  # between what is wanted in a picture and its edge (chosen)
TURN_DEG = 5  # between two pictures that are weighed (chosen)
PIECES_DEG = 10.0  # between a sign and a piece of it that was read in another view (chosen)
TWO_SHOPS_DEG = 28.0  # between two signs that are not of one shop (chosen)
ONE_SIGN_DEG = 5.0  # what is read so close together is one sign, read in pieces (chosen)
SAME_TEXT = 65.0  # least likeness of 100 of two readings of one sign (chosen)
LETTERS = 4  # of a text that is worth a picture; a sign of Chinese counts as two (chosen)
HOLDS = 0.01  # share of a view of a thing that is large enough to hold a picture together
NEARLY_HOLDS = 0.004
ROW = 2  # shops (chosen)
ROW_CHANCE = (0.1, 0.4, 0.7)
"""Chances that a view shows a row if no sign was read in it, one, or two close to each other.

Estimated in Virlton, seeds 1 and 2, as is what follows.
"""
FRONTS_CHANCE = 0.25  # as much more if it seems to have many shopfronts
HELD_CHANCE = (0.97, 0.99)  # that a picture shows a large thing if one was found so large, or two
UNSURE_CHANCE, NOT_SEEN_CHANCE = 0.8, 0.25  # if one is nearly so large, or none
ENOUGH_SHOPS = 3  # more make a picture no better (chosen)


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture that could be taken."""

    position: LatLng
    heading: float
    width: int
    corner: bool
    shops: tuple[Find, ...]
    """A sign of each shop, from left to right."""
    things: tuple[Find, ...] = ()
    """The wanted things on it."""
    fronts: bool = False
    """True if the view seems to show many shopfronts, however few signs were read."""

    @property
    def row(self) -> bool:
        """Return whether the view surely shows more shops than one; a single shop may have two signs."""
        if len(self.shops) <= ROW:
            return len(self.shops) == ROW and self._spread() >= TWO_SHOPS_DEG
        return True

    @property
    def anchor_count(self) -> int:
        """The number of things large enough to hold the picture together, up to two."""
        return min(sum(one.share >= HOLDS for one in self.things), 2)

    @property
    def chance(self) -> float:
        """The chance that it truly shows both a row of shops and a wanted thing that is large."""
        found = min(len(self.shops), ROW)
        row = 1.0 if self.row else ROW_CHANCE[found] + (FRONTS_CHANCE if self.fronts and found < ROW else 0.0)
        unsure = UNSURE_CHANCE if any(one.share >= NEARLY_HOLDS for one in self.things) else NOT_SEEN_CHANCE
        return row * (HELD_CHANCE[self.anchor_count - 1] if self.anchor_count else unsure)

    @property
    def worth(self) -> tuple[float, int, int, float]:
        """More is better."""
        sure = max((one.score for one in self.things), default=0.0)
        return self.chance, min(len(self.shops), ENOUGH_SHOPS), -self.width, sure

    def _spread(self) -> float:
        """Return the degrees from the first to the last of the shops."""
        return abs(signed_float_turn(self.shops[0].direction.degrees, self.shops[-1].direction.degrees))

    @property
    def description(self) -> str:
        """A description of the picture's contents."""
        signs = ", ".join(repr(one.text) for one in self.shops[:ENOUGH_SHOPS])
        lettering = f"{'a row of shops with ' if self.row else ''}the lettering {signs}" if signs else ""
        held = " and ".join(f"a {label}" for label in sorted({one.label for one in self.things}))
        return ", and ".join(filter(None, (lettering, held))) or "nothing in particular"


@dataclass(frozen=True, slots=True)
class Scene:
    """The signs and things found around a place."""

    position: LatLng
    corner: bool
    signs: tuple[Find, ...]
    things: tuple[Find, ...] = ()
    fronts: tuple[float, ...] = ()
    """Directions in which many shopfronts are seen."""
    closer: tuple[float, ...] = ()
    """Directions in which the signs were read in a view of their own."""

    def best(self) -> Shot:
        """Return the best picture from here; of equal ones, that which has it in the middle."""
        shots = [shot for heading in range(0, 360, TURN_DEG) for shot in self._shots(float(heading))]
        return max(shots, key=lambda one: (one.worth, -_off_middle(one)))

    def read_closer(self, heading: float, signs: Iterable[Find]) -> "Scene":
        """Read the same place, where the view in a direction has been read anew.

        Pieces of its signs give way.
        """
        new = tuple(signs)
        others = [
            one
            for one in self.signs
            if not any(_is_same_sign(one, other, PIECES_DEG) for other in new)
            or abs(signed_float_turn(heading, one.direction.degrees)) > READ_DEG / 2
        ]
        return replace(self, signs=(*others, *new), closer=(*self.closer, heading))

    def to_read(self, shot: Shot) -> float | None:
        """Return the direction in which the signs of a picture should be read closer.

        `None` if they have been.
        """
        unread = [one for one in shot.shops if not any(_is_inside(at, one, READ_DEG) for at in self.closer)]
        if not unread:
            return None
        first = shot.shops[0].direction.degrees
        turns = [signed_float_turn(first, one.direction.degrees) for one in shot.shops]
        middle = round(first + (min(turns) + max(turns)) / 2) % 360
        near = any(abs(signed_float_turn(middle, at)) < MARGIN_DEG for at in self.closer)
        return None if near else float(middle)

    def _shots(self, heading: float) -> list[Shot]:
        """Return the shots to one heading, degrees: one of each width, with the signs and things inside."""
        shots = []
        for width in WIDTHS_DEG:
            signs = [one for one in self.signs if _is_inside(heading, one, width)]
            things = tuple(one for one in self.things if _is_inside(heading, one, width))
            shops = shops_of(sorted(signs, key=lambda one: signed_float_turn(heading, one.direction.degrees)))
            fronts = any(abs(signed_float_turn(heading, at)) <= MARGIN_DEG for at in self.fronts)
            shots.append(Shot(self.position, heading, width, self.corner, shops, things, fronts))
        return shots


def legible(signs: Iterable[Find]) -> tuple[Find, ...]:
    """Return the signs of which enough letters were read."""
    return tuple(sign for sign in signs if sum(map(_letter_weight, sign.text)) >= LETTERS)


def shops_of(signs: Sequence[Find]) -> tuple[Find, ...]:
    """Return one sign of each shop: what seems to be one shop's is told once."""
    shops: list[Find] = []
    for sign in signs:
        if not any(_is_same_sign(sign, other) for other in shops):
            shops.append(sign)
    return tuple(shops)


def _is_inside(heading: float, found: Find, width: float) -> bool:
    """Return whether a find lies in a view of this heading and width, degrees, off its margins."""
    return abs(signed_float_turn(heading, found.direction.degrees)) <= width / 2 - MARGIN_DEG


def _off_middle(shot: Shot) -> float:
    """Return twice the angle from the picture's middle to the middle of its contents, degrees."""
    turns = [signed_float_turn(shot.heading, one.direction.degrees) for one in (*shot.shops, *shot.things)]
    return abs(min(turns) + max(turns)) if turns else 0.0


def _is_same_sign(sign: Find, other: Find, apart: float = ONE_SIGN_DEG) -> bool:
    """Return whether two signs are one: less than `apart` degrees away from each other, or alike in text."""
    near = abs(signed_float_turn(sign.direction.degrees, other.direction.degrees)) < apart
    return near or fuzz.partial_ratio(sign.text.casefold(), other.text.casefold()) >= SAME_TEXT


def _letter_weight(letter: str) -> int:
    """Return the share of a letter in a sign's length: 0 if it is none, 2 for one of CJK, else 1."""
    return letter.isalpha() * (2 if letter > "\N{CJK RADICAL REPEAT}" else 1)
