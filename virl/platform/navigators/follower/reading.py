"""Clauses to a plan: counts the crossings that the text passes between its turns."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field

from virl.platform.navigators.follower.clauses import (
    BlocksClause,
    Clause,
    CloseClause,
    FollowerPlan,
    GoClause,
    LandmarkClause,
    NamedCrossing,
    OrientClause,
    PassClause,
    PauseClause,
    PlannedLeg,
    ReachClause,
    StopClause,
    Sureness,
    TurnClause,
    WhereClause,
)
from virl.platform.navigators.follower.ending import Street, end_on
from virl.platform.navigators.follower.grammar import NAME_MARK, Rule
from virl.platform.navigators.follower.phrases import ENDS, PASSES, PLACES, REMARKS, START, TURNS

FAR_END = 2
"""Number added to the count of landmarks on a leg that ends where its street does; counted on gold paths."""
MAX_LEGS = 24  # chosen: more turns than 55 actions can hold
"""Largest number of legs of a plan."""
RULES = REMARKS + START + TURNS + ENDS + PASSES + PLACES
"""Rules of the grammar, in the order in which they are tried at each word."""

MAX_WORDS = 2000  # chosen: ten times the longest instruction people write
"""Largest number of words of an instruction that are read."""

_NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
]

_SPELLING = {
    r"thru|threw": "through",
    r"teh": "the",
    r"staight|straigh|stright|strait": "straight",
    r"intersecion|intersecton|interesection|intersetion|insersection|intesection|iintersection": (
        "intersection"
    ),
    r"lef": "left",
    r"rigt|rihgt|rigth": "right",
    r"trun|tun": "turn",
    r"untill|til|till": "until",
    r"infront": "in front",
    r"forwards": "forward",
    r"rd(?= road)": "3rd",
    r"kinda|sort of|kind of": "",
    r"you'll": "you will",
    r"you're": "you are",
    r"you've": "you have",
    r"there's": "there is",
    r"don't|dont|do n't": "do not",
    r"it's": "it is",
    r"won't": "will not",
    r"isn't": "is not",
    r"can't|cannot|cant": "can not",
    r"fist(?= (?:left|right|light|street|intersection))": "first",
    r"aright": "a right",
    r"(?<=the )ones|(?<=those )ones": "1s",
}

_SYNONYMS = {
    # counts
    r"1st ,? ?2nd ,? ?and (?:the )?3rd": "3",
    r"(?<!between the )1st and (?:the )?2nd": "2",
    r"a couple(?: of)?|a pair of|both(?: of)?(?: the)?": "2",
    r"(?:a )?few|several": "SOME",
    r"(?:a )?half(?:way| way)|half|midway|mid ?block|1/2(?: ?way)?|50 ?%": "1/2",
    r"(?:a|1) 3rd(?= (?:of|down|up|the))|1/3(?:rd)?": "1/3",
    r"2 (?:thirds|3rds?)|2/3(?:rds?)?": "2/3",
    r"(?:a|1) (?:quarter|4th(?= of))|1/4(?:th)?": "1/4",
    r"3 (?:quarters?|4ths?|fourths)|3/4(?:ths?)?": "3/4",
    # crossings
    r"(?:top of the )?(?:t|tee|t-) ?-?(?:shaped? )?(?:intersections?|junctions?|sections?)|t shape|"
    r"top of the t|t in the road|t(?= ?[.,])|(?<=is a )t": "TEE",
    r"(?:(?<=the )|(?<=this )|(?<=a )|(?<=left )|(?<=right )|(?<=immediate ))(?:fork|split|wye|y)"
    r"(?: (?:in|of) the (?:road|street))?(?: intersection)?(?! (?:off|into|from))": "FORK",
    r"(?:set|pair)s? of double (?:traffic )?lights?|"
    r"double (?:sets? of )?(?:(?:traffic|stop) ?)?(?:lights?|intersections?)"
    r"(?: (?:at the next )?intersections?)?": "DOUBLE",
    r"(?:set|pair|group)s? of (?:(?:traffic|stop|street) ?)?(?:lights?|signals?)": "LIGHT",
    r"(?:traffic|stop|street|red)[ -]?(?:lights?|signals?)(?! (?:pole|post|box))|"
    r"(?:lights?|stoplights?|signals?)"
    r"(?! (?:pole|post|box|fixture|colou?red|"
    r"(?:blu|brown|green|gr[ea]y|red|tan|pink|yellow|purpl|beige)\w*))": "LIGHT",
    **{
        rf"(?:(?:large|big|small|main|busy) )*{ways}[ -]?way"
        rf" (?:intersections?|crossroads?|crossings?|turns?)": word
        for ways, word in (("3", "THREEWAY"), ("4", "FOURWAY"), ("[5-8]", "MANYWAY"))
    },
    r"(?:(?:large|big|small|major|main|busy|[3-6][ -]?way) )*"
    r"(?:intersections?|crossroads?|junctions?|cross[ -]?streets?|cross roads?|"
    r"(?:(?<=the )|(?<=this )|(?<=next )|(?<=a )|(?<=st )|(?<=nd )|(?<=rd )|(?<=th ))crossings?(?! the))": (
        "INTERSECTION"
    ),
    r"(?:double |[34] way )?stop signs?|[34][ -]way stops?": "STOPSIGN",
    r"cross ?walks?|pedestrian crossings?": "CROSSWALK",
    r"(?:end|top|bottom) of the (\d+(?:st|nd|rd|th)) (?:block|blok)": r"the \1 BLOCKEND",
    r"(?:end|top|bottom) of (?:the|this|that|your|a) (?:\w+ )?(?:block|blok)": "BLOCKEND",
    r"(?:end|top|bottom) of (?:the|this|that|your) (?:\w+ )?(?:street|road|avenue|way|lane|path|alley|ramp)|"
    r"(?:the )?(?:street|road|way|lane|avenue|until it) (?:(?:dead )?ends|runs out|comes to an end)|"
    r"dead[ -]?ends?|no longer go straight|"
    r"until you can not(?: (?:go|move|continue|walk|proceed))?"
    r"(?: (?:straight|forward|further|any|more|longer|anymore))*|"
    r"can not (?:go|continue|move) (?:straight|forward|further)|as far as you can(?: (?:go|straight))*|"
    r"(?:have|forced) to (?:turn|veer|go (?:left|right))": "ROADEND",
    r"side[ -]?streets?|side[ -]?roads?|alley(?:way)?s?": "SIDESTREET",
}

_TOKEN = re.compile(rf"\d+/\d+|\d+ ?%|[a-z0-9][a-z0-9'&-]*|[.,;:!?]|{NAME_MARK}\d{{1,3}}")
_MOST_LETTERS = 600  # of one clause; chosen: no clause of Map2seq, Touchdown or R2R has as many
_PAUSES = {";": ".", ":": ",", "!": ".", "?": "."}
_HYPHENATED = {"t-intersection", "t-junction"}
"""Words for a junction that keep their hyphen, as `_SYNONYMS` takes them; others are split at it."""


def understand(text: str) -> FollowerPlan:
    """Return the plan that an instruction describes; a text without sense gives one to end anywhere ahead."""
    return plan_of(parse(text))


def plan_of(clauses: Sequence[Clause]) -> FollowerPlan:
    """Return the plan of turns and a stop that the clauses of an instruction, in order, describe."""
    reader = _Reader()
    for clause in clauses:
        reader.read(clause)
    end = end_on(reader.street, has_turned=bool(reader.legs))
    return FollowerPlan(reader.orient, tuple(reader.legs), end)


@dataclass
class _Reader:
    """A builder of a plan from clauses, which are given in the order of the text."""

    orient: OrientClause = field(default_factory=OrientClause)
    legs: list[PlannedLeg] = field(default_factory=list)
    street: Street = field(default_factory=Street)
    has_moved: bool = False
    pending: TurnClause | None = None
    """Turn that counts only if the text walks on after it; else it was a look to the side."""

    def read(self, clause: Clause) -> None:
        """Add the next clause of the text to the plan."""
        if self.pending is not None and isinstance(clause, GoClause | PassClause | BlocksClause | TurnClause):
            turn, self.pending = self.pending, None
            self._end_leg(turn)
        street = self.street
        match clause:
            case PauseClause(sentence=True):
                street.sentence += 1
            case OrientClause() if not self.has_moved:
                self.orient = OrientClause(
                    self.orient.traffic if clause.traffic is None else clause.traffic,
                    self.orient.crossing if clause.crossing is None else clause.crossing,
                )
            case TurnClause():
                self._turn(clause)
            case PassClause():
                self._pass(clause)
            case ReachClause(before=False) if not (clause.told and street.is_behind(clause.place)):
                self._reach(clause.place)
            case BlocksClause():
                self._walk_on()
                sureness: Sureness = "implied" if clause.vague else "said"
                street.point_to(street.passed + clause.count, sureness, is_vague=clause.vague)
            case LandmarkClause() | StopClause() | CloseClause():
                street.record(clause)
            case WhereClause():
                self.has_moved = True
                street.wheres.append((street.sentence, clause))
            case GoClause():
                self._go(clause)

    def _go(self, clause: GoClause) -> None:
        """Record an order to walk on, and that the block is long where the order says so."""
        street = self.street
        if clause.long and (self.legs or self.has_moved):
            ahead = street.passed if street.pointed is None else street.pointed
            begun = street.pointed is None or street.pointed_in < street.sentence
            street.note_gap(ahead + begun, "far")
        self.has_moved = True
        street.remarks += 1
        if clause.straight and street.pointed is not None and street.pointed_in == street.sentence:
            street.passed = street.pointed
            street.after_passing("said")
        if street.stopped is not None and street.stopped < street.sentence:
            self._walk_on()

    def _walk_on(self) -> None:
        """Drop the last order to stop, if any, since the text walks on from there."""
        self.has_moved = True
        self.street.stopped = None

    def _reach(self, place: NamedCrossing) -> None:
        """Record a crossing that the text comes to, unless it was named before."""
        street = self.street
        if place.earlier:
            return
        self._look_for(place)
        number = street.resolve(place)
        street.note(place, number)
        street.point_to(number, "said")
        if place.kind in ("tee", "end", "fork") or street.kind == "intersection":
            street.kind = place.kind
        self.has_moved = True

    def _look_for(self, place: NamedCrossing) -> None:
        """Plan to face the nearest crossing at the start if the walk first goes to "the closest" one."""
        if place.near and not self.legs and self.street.passed == 0 and self.orient.crossing is None:
            self.orient = OrientClause(self.orient.traffic, crossing=True)

    def _pass(self, clause: PassClause) -> None:
        """Record that the text passes crossings, or only a thing if its words may mean no crossing."""
        street, place = self.street, clause.place
        if clause.again and street.has_just_begun:
            return
        if clause.thing and (street.pointed is None or street.remarked_in >= street.pointed_in):
            street.remark(LandmarkClause(passed=True))
            return
        if clause.then and street.stopped == street.sentence:
            street.wheres.append((street.sentence, WhereClause("before", place)))
            return
        self._walk_on()
        self._look_for(place)
        street.go_through(clause)

    def _turn(self, clause: TurnClause) -> None:
        """End the leg with a turn, or keep the turn pending where the text may only mean a look."""
        street = self.street
        if clause.side == "around":
            return
        is_last = street.stopped == street.sentence and clause.place is None
        if is_last or (clause.looks and street.pointed_in != street.sentence):
            self.pending = clause
        else:
            self._end_leg(clause)

    def _end_leg(self, clause: TurnClause) -> None:
        """End the current leg with a turn and begin the next street."""
        street = self.street
        self._walk_on()
        if clause.place is not None:
            self._reach(clause.place)
        if street.pointed is not None:
            ordinal = street.pointed
        elif clause.soon and street.crossed_in == street.sentence:
            ordinal = street.passed
        else:
            ordinal = street.passed + (clause.nth or 1)
            if clause.quick:
                street.note_gap(ordinal, "near")
        slight = clause.slight or street.kind == "fork"
        sureness = _sureness(street)
        remarks = street.remarks + FAR_END * (street.kind == "end")
        hints = tuple(street.hints.items())
        leg = PlannedLeg(clause.side, ordinal, sureness, street.kind, slight, remarks, hints)
        again = [PlannedLeg(clause.side, 1, "said")] * (clause.times - 1)
        self.legs = [*self.legs, leg, *again][:MAX_LEGS]
        self.street = Street(sentence=street.sentence, turned_in=street.sentence)


def _sureness(street: Street) -> Sureness:
    """Return how certain the number of a turn's crossing is, by what the text said of the street before."""
    if street.kind == "end" and street.passed == 0 and street.pointed == 1:
        return "open"
    if street.pointed is None or street.is_vague:
        return "said" if street.passed and not street.is_vague else "open"
    return "implied" if street.passed == 0 and street.pointed == 1 else "said"


def parse(text: str) -> list[Clause]:
    """Return the clauses that the grammar finds in an instruction, in order; none in a text without sense."""
    return [clause for rule, match in matches(text) if (clause := rule.make(match)) is not None]


def matches(text: str) -> list[tuple[Rule, re.Match[str]]]:
    """Return (rule, match) for each phrase of the normalised text that a rule reads, in order."""
    line = normalise(text)
    found: list[tuple[Rule, re.Match[str]]] = []
    position = 0
    while position < len(line):
        # Bounded: else the time of a long text grows with the square of its length.
        end = position + _MOST_LETTERS
        tried = ((rule, rule.pattern.match(line, position, end)) for rule in RULES)
        first = next(((rule, match) for rule, match in tried if match and match.end() > position), None)
        if first is None:
            space = line.find(" ", position)
            position = len(line) if space < 0 else space + 1
        else:
            found.append(first)
            position = first[1].end() + 1
    return found


def _compile_table(table: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
    """Return (compiled pattern of whole words, replacement) for each entry of a table."""
    return [(re.compile(rf"(?<![\w/])(?:{pattern})(?![\w/])"), word) for pattern, word in table.items()]


_NUMBER_OF = {word: str(value) for value, word in enumerate(_NUMBERS, 1)}
_NUMBER_OF |= {
    word: f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(value, 'th') }"
    for value, word in enumerate(_ORDINALS, 1)
}
"""Digits of each number word, such as "3" for "three" and "3rd" for "third"."""
_SPELLING_RULES = _compile_table(_SPELLING)
_SYNONYM_RULES = _compile_table(_SYNONYMS)


def mask_names(text: str, names: Sequence[str]) -> str:
    """Return a text with each name replaced by `NAME_MARK` and its index, so that it is not read as words."""
    longest = sorted(range(len(names)), key=lambda number: -len(names[number]))
    any_name = "|".join(f"({re.escape(names[number])})" for number in longest) or "(?!)"

    def mark(match: re.Match[str]) -> str:
        """Return the mark and index that stand for a matched name."""
        return f"{NAME_MARK}{longest[(match.lastindex or 1) - 1]}"

    return re.sub(rf"(?<!\w)(?:{any_name})(?!\w)", mark, text, flags=re.IGNORECASE)


def normalise(text: str) -> str:
    """Return an instruction's words, at most `MAX_WORDS`, in the form that the grammar's patterns read.

    They are one string of words and `.` `,` between single spaces. Words in capitals stand for a thing that
    people name in many ways, such as `LIGHT` for "set of traffic lights".
    """
    plain = (
        unicodedata.normalize("NFKC", text[: 20 * MAX_WORDS])
        .lower()
        .replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    )
    plain = re.sub(r"(?<=\s)\d\.(?=\s)|^\d\.(?=\s)", ".", plain)  # "1. Go ... 2. Turn ..."
    plain = re.sub(r"(?<=[a-z])/(?=[a-z])", " ", plain)
    plain = re.sub(r"(?<=[a-z] )[-\N{EN DASH}\N{EM DASH}]+(?= [a-z])", ",", plain)
    words = [_PAUSES.get(word, word) for word in _TOKEN.findall(plain)[:MAX_WORDS]]
    parts = [part for word in words for part in ([word] if word in _HYPHENATED else word.split("-")) if part]
    line = _rewrite(" ".join(_NUMBER_OF.get(part, part) for part in parts), _SPELLING_RULES)
    # Once more: a spelling that was mended may be a number, as "fist" is for "first".
    line = " ".join(_NUMBER_OF.get(word, word) for word in line.split())
    return " ".join(_rewrite(line, _SYNONYM_RULES).split())


def _rewrite(line: str, rules: list[tuple[re.Pattern[str], str]]) -> str:
    """Return a line with each pattern of `rules` replaced by its word, one pattern after the other."""
    for pattern, word in rules:
        line = pattern.sub(word, line)
    return line
