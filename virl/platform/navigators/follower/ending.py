"""What the text says of the street after its last turn so far, and the end that this makes."""

from dataclasses import dataclass, field, replace

from virl.platform.navigators.follower.clauses import (
    CloseClause,
    End,
    Gap,
    Hint,
    Kind,
    LandmarkClause,
    NamedCrossing,
    PassClause,
    StopClause,
    StopKind,
    Sureness,
    WhereClause,
)

NEARLY_ALL = 0.85
"""Share of the last block, 0 to 1, to walk to a shop that is "at the end of the block"; chosen."""
STALE = 2
"""Largest number of sentences before the last at which a place still gives the stop, if none says stop.
Chosen."""
SHAPES = frozenset({"three", "four", "many", "tee", "side"})
"""Kinds of crossing that say how many ways meet there, which a map shows too."""
Said = tuple[int, WhereClause]
"""(number of a sentence, place along the street which that sentence gives of the stop or of a thing)."""


@dataclass
class Street:
    """A record of what the text has said of a street since the last turn; crossings count from 1."""

    sentence: int = 0
    """Number of the sentence that is being read, from 0."""
    turned_in: int = -1
    """Number of the sentence with the last turn, -1 before the first."""
    passed: int = 0
    """Number of crossings that the text has passed since the turn."""
    pointed: int | None = None
    """Number of the crossing that the text names and has not passed yet; `None` without one."""
    pointed_in: int = -1
    """Number of the sentence that names the crossing of `pointed`, -1 without one."""
    passed_in: int = -1
    """Number of the sentence that last passed a crossing, -1 without one."""
    is_vague: bool = False
    """True if the text names the crossing ahead only vaguely, as in "a few blocks"."""
    crossed_in: int = -1
    """Number of the sentence that crosses a street on foot, "cross to the other side"; -1 without."""
    kind: Kind = "intersection"
    """Kind of the crossing that the text has named last."""
    sureness: Sureness = "open"
    """Certainty of the number of the crossing that the text has named last."""
    remarks: int = 0
    """Count of landmarks along the block that the text names (twice if passed), and of orders to walk on."""
    remarked_in: int = -1
    """Number of the sentence with the last landmark, -1 without one."""
    cornered_in: int = -1
    """Number of the sentence with the last landmark at a corner, -1 without one."""
    has_passed_any: bool = False
    """True if the text has passed a landmark on this block."""
    double: int | None = None
    """Number of the first light of a double crossing that the text names; `None` without one."""
    hints: dict[int, Hint] = field(default_factory=dict)
    """Remarks on the shape or distance of crossings, by the crossings' numbers."""
    wheres: list[Said] = field(default_factory=list)
    """Places that the text gives of the stop or of things, in order, each with its sentence."""
    stopped: int | None = None
    """Number of the sentence that says stop; `None` without one."""
    is_bare: bool = False
    """True if the text says stop without a place."""

    @property
    def has_just_begun(self) -> bool:
        """Return whether the text just set out, turned or crossed, and passed or announced nothing since."""
        begun = max(self.passed_in, self.turned_in)
        return self.pointed is None and begun >= self.sentence - 1 and not self.has_passed_any

    @property
    def is_fresh(self) -> bool:
        """Return whether the text has said nothing of the street since the turn."""
        return self.turned_in >= self.sentence - 1 and not (self.passed or self.remarks or self.pointed)

    def remark(self, landmark: LandmarkClause) -> None:
        """Record that the text names a landmark on the street or at its corner."""
        self.remarks += (not landmark.corner) * (1 + landmark.passed)
        self.has_passed_any |= landmark.passed
        self.remarked_in = self.sentence
        if landmark.corner:
            self.cornered_in = self.sentence

    def stop(self, clause: StopClause) -> None:
        """Record an order to stop; ignore a later "stop here", and any order after "turn and stop"."""
        if self.is_bare and self.stopped == self.turned_in and not self.passed:
            return
        if self.stopped is None or not clause.bare:
            self.stopped, self.is_bare = self.sentence, clause.bare

    def point_to(self, ordinal: int, sureness: Sureness, *, is_vague: bool = False) -> None:
        """Record that the text names a crossing ahead: its number on the street and how sure that is.

        Args:
            ordinal: of the crossing, from 1.
            sureness: certainty of the number.
            is_vague: whether the text says "a few blocks" instead of a number.
        """
        self.pointed, self.pointed_in, self.sureness = ordinal, self.sentence, sureness
        self.is_vague = is_vague

    def note(self, place: NamedCrossing, number: int) -> None:
        """Record what `place` says of the shape, lights and distance of this street's crossing `number`."""
        if place.kind == "double" and place.ordinal in (None, 1):
            self.double = number
            if place.ordinal is None:
                self.hints[number] = replace(self.hints.get(number, Hint()), is_pair=True)
        if place.soon or (place.ordinal == 2 and self.number_in_pair(place) == number):
            self.note_gap(number, "near")
        if place.kind in SHAPES:
            self.hints[number] = replace(self.hints.get(number, Hint()), kind=place.kind)

    def note_gap(self, number: int, gap: Gap) -> None:
        """Record that the text says a numbered crossing is near to the one before or far from it."""
        self.hints[number] = replace(self.hints.get(number, Hint()), gap=gap)

    def record(self, clause: LandmarkClause | StopClause | CloseClause) -> None:
        """Record a clause on a landmark, a stop, or a crossing close to the one before."""
        match clause:
            case LandmarkClause():
                self.remark(clause)
            case StopClause():
                self.stop(clause)
            case CloseClause():
                self.close(ahead=clause.ahead)

    def close(self, *, ahead: bool) -> None:
        """Record that the crossing named last, or with `ahead` the next, is close to the one before it."""
        number = self.passed if self.pointed is None else self.pointed
        if number + ahead > 0:
            self.note_gap(number + ahead, "near")

    def is_behind(self, place: NamedCrossing) -> bool:
        """Return whether the text has passed the crossing that a remark is about."""
        return self.passed > 0 and (place.ordinal is None or place.ordinal <= self.passed)

    def number_in_pair(self, place: NamedCrossing) -> int | None:
        """Return the number on the street of the light that a place names in a double crossing; else `None`.

        The pair counts as two crossings from then on: the hint that its first crossing is a pair is dropped.
        """
        if place.ordinal not in (1, 2) or (place.kind != "double" and self.double is None):
            return None
        number = self.double or self.pointed or self.passed + 1
        if (hint := self.hints.pop(number, None)) and (single := replace(hint, is_pair=False)) != Hint():
            self.hints[number] = single
        return number + place.ordinal - 1

    def go_through(self, clause: PassClause) -> None:
        """Record that the text passes the crossings of a clause."""
        place = clause.place
        number_in_pair = self.number_in_pair(place)
        if place.earlier:
            self.passed = self.pointed or self.passed + 1
        elif number_in_pair is not None:
            self.passed = number_in_pair
        elif place.ordinal is not None and clause.count == 1:
            self.passed = max(place.ordinal, self.passed + 1)
        elif self.pointed is not None and place.following:
            self.passed = clause.count + (self.pointed if self.pointed_in < self.sentence else self.passed)
        elif self.pointed is not None and clause.count == 1 and self.pointed > self.passed:
            self.passed = self.pointed
        else:
            # Two lights that are told as one count as one crossing.
            self.passed += 1 if place.kind == "double" else clause.count
        self.note(place, self.passed)
        self.double = number_in_pair if place.ordinal == 1 else None
        self.after_passing("implied" if clause.vague else "said")
        if place.kind == "street":
            self.crossed_in = self.sentence

    def after_passing(self, sureness: Sureness) -> None:
        """Mark the crossings named as passed, their number with a `sureness`; forget the block before."""
        self.pointed, self.passed_in, self.sureness, self.is_vague = None, self.sentence, sureness, False
        self.remarks, self.has_passed_any = 0, False
        self.wheres.clear()

    def resolve(self, place: NamedCrossing) -> int:
        """Return the number, from 1, of this street's crossing that the text means by a place.

        "The third light" counts from the turn where more than two have not been passed yet, else from here;
        "the next light" comes after one that an earlier sentence points to.
        """
        if place.earlier:
            return self.pointed or max(self.passed, 1)
        number_in_pair = self.number_in_pair(place)
        if number_in_pair is not None:
            return number_in_pair
        if place.ordinal is not None:
            from_turn = place.ordinal > self.passed or 1 < place.ordinal == self.passed
            return place.ordinal if from_turn else self.passed + place.ordinal
        if place.following:
            if self.pointed is not None and self.pointed_in < self.sentence:
                self.passed = self.pointed
            return self.passed + 1
        return self.passed + 1 if self.pointed is None else self.pointed


def end_on(street: Street, *, has_turned: bool) -> End:
    """Return the place where a walk ends on its last street, by what the text says of it."""
    base = End("open", street.passed, remarks=street.remarks, hints=tuple(street.hints.items()))
    found = _end_clause(street)
    if found is None or (found[1].relation == "before" and street.stopped is None and found[1].place is None):
        return _end_by_blocks(street, base) or _end_without_place(street, base, has_turned)
    street.sentence, where = found
    return _end_at_place(street, where, base, has_turned)


def _end_clause(street: Street) -> Said | None:
    """Return (sentence number, place) of the stop, in the sentence that says so if possible; else `None`."""
    if street.stopped is None:
        recent = [
            (sentence, where)
            for sentence, where in street.wheres
            if (sentence >= street.sentence - STALE or where.fraction) and (where.steps or not where.turned)
        ]
        return recent[-1] if recent else None
    with_stop = [said for said in street.wheres if said[0] == street.stopped]
    fractions = [said for said in street.wheres if said[0] <= street.stopped + 1 and said[1].fraction]
    if not with_stop:
        return fractions[-1] if fractions else None
    # A fraction or a building says more exactly where to stop than "several steps" or "after" something.
    first = with_stop[0][1]
    is_vague = first.turned or first.steps or first.relation == "after"
    clear = [said for said in with_stop if said[1].fraction or said[1].building]
    return clear[0] if clear and is_vague else with_stop[0]


def _end_by_blocks(street: Street, base: End) -> End | None:
    """Return `base` with an end a few blocks on or at a block's end; `None` where the text says neither."""
    if street.pointed is None or street.stopped is None or street.remarked_in != street.stopped:
        return None
    if street.is_vague:
        return replace(base, kind="landmark", passed=street.pointed, sureness="open")
    if street.kind == "block" and street.pointed_in == street.stopped:
        return replace(base, kind="fraction", passed=street.pointed - 1, fraction=NEARLY_ALL)
    return None


def _end_without_place(street: Street, base: End, has_turned: bool) -> End:
    """Return `base` with the end of a text that gives no place: a named crossing, the turn or a landmark."""
    has_stopped = street.stopped is not None
    if street.pointed is not None and (not has_stopped or street.pointed_in == street.stopped):
        sureness: Sureness = "said" if has_stopped else "open"
        return replace(base, kind="in", passed=street.pointed - 1, sureness=sureness)
    is_bare_stop = has_stopped and street.is_bare and street.remarked_in != street.stopped
    stops_at_turn = is_bare_stop and street.passed == 0 and street.turned_in == street.stopped
    if has_turned and (stops_at_turn or (street.is_fresh and not has_stopped)):
        return replace(base, kind="turned", sureness="implied")
    if is_bare_stop and street.passed and street.passed_in == street.stopped:
        return replace(base, kind="after")
    if street.pointed is not None and street.pointed_in < street.sentence:
        return replace(base, kind="landmark", passed=street.pointed - 1, sureness="implied")
    if has_stopped and street.cornered_in == street.stopped:
        return replace(base, kind="corner")
    return replace(base, kind="landmark" if has_stopped or street.has_passed_any else "open")


def _end_at_place(street: Street, where: WhereClause, base: End, has_turned: bool) -> End:
    """Return `base` with the end at a place in the text: a fraction, building, turn, steps or crossing."""
    if where.fraction is not None:
        ahead = street.pointed is not None and street.pointed > street.passed + 1
        passed = (street.pointed or 1) - 1 if ahead else street.passed
        return replace(base, kind="fraction", fraction=where.fraction, passed=passed)
    if where.building is not None:
        return replace(base, kind="building", building=where.building)
    if where.turned:
        return replace(base, kind="turned", steps=where.steps)
    if where.place is None:
        return _end_by_steps(street, where, base, has_turned)
    return _end_by_crossing(street, where, where.place, base, has_turned)


def _end_by_crossing(
    street: Street, where: WhereClause, place: NamedCrossing, base: End, has_turned: bool
) -> End:
    """Return `base` with the end in, before or after a crossing that the text names, or at a landmark."""
    if place.earlier and street.pointed is None:
        if where.relation == "after" and street.passed and street.passed_in >= street.sentence - 1:
            return replace(base, kind="after", steps=where.steps)
        return replace(base, kind="landmark")
    is_at_turn = has_turned and street.passed == 0 and street.pointed is None and not place.following
    if is_at_turn and place.ordinal is None:
        if where.relation == "after" and street.turned_in >= street.sentence - 1:
            return replace(base, kind="turned", steps=where.steps)
        if where.relation == "in" and street.turned_in == street.sentence:
            return replace(base, kind="turned")
    if where.relation == "after":
        is_behind = not place.following and place.ordinal is None and street.pointed is None
        number = passed = max(street.passed, 1) if is_behind else street.resolve(place)
    else:
        number = street.resolve(place)
        passed = max(number - 1, 0)
    street.note(place, number)
    kind: StopKind = where.relation if where.relation in ("before", "after") else "in"
    return replace(base, kind=kind, steps=where.steps, passed=passed, hints=tuple(street.hints.items()))


def _end_by_steps(street: Street, where: WhereClause, base: End, has_turned: bool) -> End:
    """Return `base` with the end some steps after the last turn or crossing, or else at a landmark."""
    is_behind = where.relation == "beyond" or (
        where.relation == "after" and where.steps and not street.pointed
    )
    if is_behind and street.has_passed_any:
        return replace(base, kind="landmark")
    if is_behind and street.passed == 0 and has_turned:
        return replace(base, kind="turned", steps=where.steps)
    if where.relation in ("beyond", "after") and (where.steps or street.pointed or street.passed):
        return replace(base, kind="after", steps=where.steps, passed=street.pointed or street.passed)
    return replace(base, kind="landmark")
