"""The rule that reads errands, and its reply: addresses, names as written, kinds of places by lexicon."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from virl.errors import MindFailed
from virl.mind.lexicon import GAP, Lexicon, found_in, in_order, words_of
from virl.mind.replies import Reply
from virl.mind.sentences import asked_for
from virl.mind.wishes import kinds_wanted, words_for_kinds
from virl.platform.city.locate import BLOCKS, NUMBER_FIRST, NUMBER_LAST, WORD

_NAME = re.compile(rf"{WORD}(?:\s+(?:&\s+|of\s+|the\s+)*{WORD})*")
_BEFORE_NAME = re.compile(r"\b(?:at|to|from|by|into|in|visit|see)\s+(?:the\s+)?$", re.IGNORECASE)
_NO_NAME = re.compile(
    r"(?:a|after|also|an|and|at|buy|call|check|collect|deliver|drop|fetch|finally|first|from|get|go|grab|he|her|his|i"
    r"|in|last|mail|meet|my|next|on|one|our|pass|pay|pick|please|post|return|see|send|she|shop|start|stop|take"
    r"|the|their|then|they|to|try|visit|walk|we|with|you|your"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august"
    r"|september|october|november|december)",
    re.IGNORECASE,
)
"""Pattern of words, such as "Buy" or "Monday", that are part of no name although capitalized."""
_STREET_LEAD = re.compile(r"(?:In|An|Auf|Bei)\s+(?:der|den|dem|die)\b")
"""Pattern of the first words of German street names, as in "In der Au 3"."""
_CLAUSE_END = re.compile(
    r"(?<![.;:!?\n,])[.;:!?\n,]+(?:\s+|$)|(?<!\s)\s++(?:and then|and|then)\s+", re.IGNORECASE
)
_GOING = re.compile(
    r"\b(?:back|return\w*|go(?:es|ing)?|com(?:e|es|ing)|end\w*|finish\w*|be)\b", re.IGNORECASE
)
_HOME = re.compile(r"\b(?:home|where (?:i|he|she|they|we) (?:start|began|begin|set)\w*)\b", re.IGNORECASE)
_ROUND_TRIP = re.compile(r"\bround trip\b", re.IGNORECASE)
_LEADING = re.compile(
    r"^(?:[-*\N{BULLET}\s]|\d+[.)]\s"
    r"|(?:and|then|next|after that|finally|first|also|later|last|please|lastly|on the way|to)\b"
    r"|(?:i|he|she|they|we|peng)(?:'ve| have| has|'ll| will)?\s+"
    r"(?:got to|have to|has to|need to|needs to|must|should|want to|wants to|to)\b)[\s,]*",
    re.IGNORECASE,
)
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_NUMBER = rf"(?:{'|'.join(_NUMBERS)}|\d{{1,2}})"
_MOST_ORDERS = 20  # words such as "first" that are looked at, each with all of the text; chosen
_MOST_OF_A_KIND = 20  # places of one kind that a clause can ask for; chosen
_HOURS = {"noon": 720, "midday": 720, "midnight": 1440}
_DEADLINE = re.compile(
    r"\b(?:by|before|until|till|(?:no|not) later than)\s+(?P<half>half past )?"
    rf"(?P<hour>noon|midday|midnight|{_NUMBER})"
    r"(?::(?P<minutes>\d\d))?(?:\s*(?P<part>[ap]\.?m)\b\.?|\s+o'clock)?(?![\w-])(?!\s+(?-i:[A-Z\d]))",
    re.IGNORECASE,
)
"""Pattern of a time by which all must be done, as in "before noon" or "by half past ten"."""
_ORDER = re.compile(
    r"\bin (?:this|that|the given|the following) order\b|\bone after the other\b"
    r"|\b(?P<after>(?:only )?after (?:that|this)|only then|afterwards|later|secondly|thirdly)\b"
    r"|\b(?P<first>first(?: of all|ly)?|to (?:begin|start)(?: with)?|for a start"
    r"|(?:start|begin)(?:s|ing)? (?:with|by|at))\b"
    r"|\b(?P<last>finally|lastly|last of all|at last|in the end)\b",
    re.IGNORECASE,
)
_ALSO = re.compile(r"\s*(?:(?:and|but|so|also|then)\s+)*", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.;!?]")
_THEN = re.compile(r"\b(?:then|next)\b", re.IGNORECASE)
_HOMEWARD = re.compile(
    r"\bthen (?:(?:go|come|head|be|return) )?(?:back )?(?:to )?home\b|\bno later\b", re.IGNORECASE
)
ANY_ORDER = re.compile(
    r"\b(?:whatever|whichever|any) (?:their |the )?order\b"
    r"(?: suits?\b(?: (?:you|me|us|him|her)\b)?(?: best\b)?)?",
    re.IGNORECASE,
)
_REASON = re.compile(r"\s*(?:because|since|seeing that|now that)\b", re.IGNORECASE)
_NARROWS = re.compile(
    r"\b(?:with|without|that|which|who|whose|where|after|only|not|no|never|if|unless|different|again|either|or)\b"
    r"|\b(?:unlike|same|similar|than|as(?= \w+ as\b|$))\b"
    r"|(?<!would)(?<!'d)(?<!\bto)(?<!\bI)(?<!we)(?<!they)(?<!ly)(?<!much)(?<!feel)(?<!feels) like\b(?! to\b)"
    r"|\b\w+n't\b",
    re.IGNORECASE,
)
"""Pattern of words that begin a condition on a place, such as "with": it is no part of the errand itself."""
_TRAILING = re.compile(
    r"(?<![\s,(-])[\s,(-]*+\b(?:at|to|from|by|in|on|into|near|of|the|a|an)$|(?<![\s,(:-])[\s,(:-]++$",
    re.IGNORECASE,
)


class Errand(Reply):
    """One thing to do somewhere."""

    where: str = Field(
        min_length=1, description="An address or a place's name as written, else a kind of place."
    )
    what: str = Field(description="What is to be done there, in a few words of the text; may be empty.")


class ErrandList(Reply):
    """Errands read from a text."""

    errands: tuple[Errand, ...] = Field(description="In the order of the text.")
    back_home: bool = Field(description="Whether the text says that the way ends where it began.")

    @field_validator("errands")
    @classmethod
    def _are_in_the_text(cls, errands: tuple[Errand, ...], info: ValidationInfo) -> tuple[Errand, ...]:
        """Return errands unchanged; raise `ValueError` for a number that the text does not have.

        An address that nobody gave would be walked to.
        """
        text = (info.context or {}).get("text")
        if not isinstance(text, str):
            return errands
        given = re.findall(r"\d+", text)
        for errand in errands:
            for number in re.findall(r"\d+", errand.where):
                if number not in given:
                    raise ValueError(f"{errand.where!r}: the text does not say {number}")
        return errands


class ErrandQuestion(BaseModel):
    """Inputs of the prompt `errands/list`, as its rule reads them."""

    text: str


@dataclass(frozen=True, slots=True)
class _Mention:
    """An address or a name in a text, with its start and end there."""

    start: int
    end: int
    where: str
    is_address: bool


def list_errands(question: ErrandQuestion, lexicon: Lexicon) -> ErrandList:
    """Return the errands in a text: one for each address and name, and for each place type named elsewhere.

    For what is left, the kind of place that its words speak of.

    Raises:
        MindFailed: the text names no place and no kind of place.
    """
    text, home = question.text, _goes_home(question.text)
    text = asked_for(text)
    for pattern in (_DEADLINE, ANY_ORDER):
        text = pattern.sub(lambda found: " " * len(found[0]), text)
    errands: list[Errand] = []
    done = 0
    for mention in _join_addresses(text, list(_mentions(text))):
        before, mine = _clauses_before(text[done : mention.start], errands)
        errands += _by_kind(before, lexicon)
        errands.append(Errand(where=mention.where, what=_tidy(mine)))
        done = mention.end
    before, last = _clauses_before(text[done:], errands)
    errands += _by_kind([*before, last], lexicon)
    if not errands:
        raise MindFailed(
            "the rules find no address, name or kind of place in the errands: list `stops`, or write plain "
            "English, the only language they know"
        )
    return ErrandList(errands=tuple(errands), back_home=home)


def _mentions(text: str) -> Iterator[_Mention]:
    """Yield the addresses and names in a text, in order."""
    found = [_Mention(*match.span(), match[0], is_address=True) for match in BLOCKS.finditer(text)]
    for match in NUMBER_LAST.finditer(text):
        start, words = _without_lead(match)
        if words[:1].isalpha() and not _overlaps(match, found):  # else it names no street
            found.append(_Mention(start, match.end(), words, is_address=True))
    for match in NUMBER_FIRST.finditer(text):
        if not _overlaps(match, found):
            found.append(_Mention(*match.span(), match[0], is_address=True))
    names = [
        name
        for match in _NAME.finditer(text)
        if not _overlaps(match, found) and (name := _place_name(text, match))
    ]
    yield from sorted([*found, *names], key=lambda mention: mention.start)


def _overlaps(match: re.Match[str], mentions: Sequence[_Mention]) -> bool:
    """Return whether a match overlaps one of the mentions."""
    return any(match.start() < one.end and one.start < match.end() for one in mentions)


def _without_lead(match: re.Match[str]) -> tuple[int, str]:
    """Return (start, text) of a match without the first words that belong to no name or address."""
    start, words = match.start(), match[0]
    while words and _NO_NAME.fullmatch(words.split()[0]) and not _STREET_LEAD.match(words):
        rest = words[len(words.split()[0]) :].lstrip()
        start, words = match.end() - len(rest), rest
    return start, words


def _place_name(text: str, match: re.Match[str]) -> _Mention | None:
    """Return a match as a place's name, without words that only begin the sentence; `None` if empty."""
    start, words = _without_lead(match)
    alone = len(words.split()) == 1
    before = text[: match.start()]
    begins = not before.strip() or before.rstrip()[-1] in ".!?" or "\n" in before[len(before.rstrip()) :]
    if not words or (alone and (begins or not _BEFORE_NAME.search(text[:start]))):
        return None
    return _Mention(start, match.end(), words, is_address=False)


def _join_addresses(text: str, mentions: list[_Mention]) -> list[_Mention]:
    """Return the mentions in order, a name and the address right after it as one."""
    joined: list[_Mention] = []
    for mention in mentions:
        before = joined[-1] if joined else None
        if before and not before.is_address and mention.is_address:
            between = text[before.end : mention.start]
            if re.fullmatch(r"\s*+(?:[,(]\s*+)?(?:(?:at|on|in)\s++)?", between):
                joined[-1] = _Mention(before.start, mention.end, mention.where, is_address=True)
                continue
        joined.append(mention)
    return joined


def _clauses_before(text: str, errands: list[Errand]) -> tuple[list[str], str]:
    """Return (clauses but the last, last one) of text; the first of several goes to the last of `errands`.

    What follows the mention before without a break still tells of that one: it is added there.
    """
    *parts, last = _CLAUSE_END.split(text)
    if errands and parts:
        before, tail = errands[-1], _tidy(parts.pop(0))
        errands[-1] = before.model_copy(update={"what": f"{before.what} {tail}".strip()})
    return [part for part in parts if part.strip()], last


def _by_kind(clauses: list[str], lexicon: Lexicon) -> Iterator[Errand]:
    """Yield the errands of clauses that name or imply a place type, as many as places are asked for."""
    for clause in clauses:
        if _goes_home(clause) or _REASON.match(clause):
            continue
        counts = {
            kind: len(found_in(clause, (*phrases, kind.replace("_", " "))))
            for kind, phrases in lexicon.place_types.items()
        }
        best = max(counts, key=lambda kind: counts[kind])
        if not counts[best]:  # a type that is not named, but needed for what is to be done
            best = next(iter(kinds_wanted(clause, (), lexicon)), "")
        if best:
            number = _number_before(clause, best)
            count = min(_to_number(number[1]), _MOST_OF_A_KIND) if number else 1
            yield from [Errand(where=words_of(best), what=_tidy(clause))] * count


def _number_before(clause: str, kind: str) -> re.Match[str] | None:
    """Return the match of a number before a type's plural, as in "three different pharmacies", or `None`."""
    name = words_of(kind)
    plural = f"{name[:-1]}ies" if name.endswith("y") else f"{name}e?s"
    return re.search(rf"\b({_NUMBER}) (?:different |separate )?{plural}\b", words_of(clause))


def _to_number(word: str) -> int:
    """Return the number that a word up to "twelve" or a numeral means."""
    return _NUMBERS.index(word) + 1 if word in _NUMBERS else int(word)


@dataclass(frozen=True, slots=True)
class Demands:
    """Demands of a text on a trip: its order and its deadline."""

    in_order: bool = False
    """True if the stops are to be visited in the order told."""
    until: int | None = None
    """Minute of the day by which all must be done; `None` without a deadline."""


def read_demands(text: str, intention: str, minute: int) -> Demands:
    """Return the order and deadline that a text demands; `minute` of the day is when the errands begin.

    Args:
        text: the errands in words.
        intention: the runner's intention, which may leave the order open: a mere "then" does not overrule it.
        minute: when the errands begin, in minutes after midnight; "ten" is the next ten o'clock.
    """
    text = asked_for(text)
    ordered = _ORDER.search(text) or (
        _THEN.search(_HOMEWARD.sub("", text)) and not ANY_ORDER.search(f"{text} {intention}")
    )
    if (found := _DEADLINE.search(text)) is None:
        return Demands(bool(ordered))
    if (said := found["hour"].lower()) in _HOURS:
        return Demands(bool(ordered), _HOURS[said])
    hour = _to_number(said)
    until = hour * 60 + (int(found["minutes"] or 0) if not found["half"] else 30)
    if half_day := (found["part"] or "").lower().replace(".", ""):
        until = until % 720 + 720 * (half_day == "pm")
    elif until <= minute and hour <= 12:
        until += 720
    return Demands(bool(ordered), until)


def read_errands(text: str, lexicon: Lexicon) -> tuple[str, ...]:
    """Return the words of a text from which the rules read errands, order and deadline.

    Raises:
        MindFailed: the text names no place and no kind of place.
    """
    text = asked_for(text)
    used = [match[0] for pattern in (_DEADLINE, ANY_ORDER) for match in pattern.finditer(text)]
    orders = list(_ORDER.finditer(text))
    many = len(orders) > _MOST_ORDERS
    wrong = {match[0].lower() for match in orders if many or not _is_in_order(match, orders, lexicon)}
    used += [match[0] for match in orders if match[0].lower() not in wrong]
    addresses = {mention.where: mention for mention in _join_addresses(text, list(_mentions(text)))}
    for errand in list_errands(ErrandQuestion(text=text), lexicon).errands:
        if mention := addresses.get(errand.where):
            used.append(text[mention.start : mention.end])
            # What is to be done there stands before and after the address, so it is in the text in pieces.
            said, words = words_of(text), words_of(_NARROWS.split(errand.what)[0]).split()
            while words:
                length = next((n for n in range(len(words), 0, -1) if " ".join(words[:n]) in said), 1)
                used.append(" ".join(words[:length]))
                words = words[length:]
            continue
        kind = errand.where.replace(" ", "_")
        for stretch in words_for_kinds(errand.what, [kind], lexicon):
            used.append(stretch)
            if GAP in stretch:  # a number of goods within it, as in "return two books"
                between = rf" {_NUMBER} ".join(map(re.escape, stretch.split(GAP)))
                used += [found[0] for found in re.finditer(rf"\b{between}\b", words_of(errand.what))]
        used += found_in(errand.what, (errand.where, *lexicon.place_types.get(kind, ())))
        if number := _number_before(errand.what, kind):
            used.append(number[0])
    return tuple(used)


def _is_in_order(match: re.Match[str], orders: Sequence[re.Match[str]], lexicon: Lexicon) -> bool:
    """Return whether a word of order fits its errand: "first" before the first, "finally" before the last."""
    text, kind = match.string, match.lastgroup
    *earlier, lead = _CLAUSE_END.split(text[: match.start()])
    follows = re.compile(r"[\s,]*").match(text, match.end())
    leads = _ALSO.fullmatch(lead) and follows
    ends = _CLAUSE_END.search(text, follows.end() if leads and follows else match.end())
    if kind == "after":
        return _errands_in(". ".join(earlier), lexicon) > 0
    if kind == "first":
        return _errands_in(text[: ends.start()] if ends else text, lexicon) <= 1
    if kind == "last":
        after = "".join(_SENTENCE_END.split(text[match.end() :], maxsplit=1)[leads is not None :])
        return not _errands_in(after, lexicon) and [one.lastgroup for one in orders].count("last") == 1
    return True


def _errands_in(text: str, lexicon: Lexicon) -> int:
    """Return the number of errands that the rules find in a text; 0 if none."""
    try:
        return len(list_errands(ErrandQuestion(text=text), lexicon).errands)
    except MindFailed:
        return 0


def _tidy(clause: str) -> str:
    """Return a clause as what is to be done: without words that lead to it or to the place."""
    text = clause.strip()
    while (shorter := _TRAILING.sub("", _LEADING.sub("", text))) != text:
        text = shorter.strip()
    return "" if _NO_NAME.fullmatch(text) else text


def _goes_home(text: str) -> bool:
    """Return whether a text says that the trip ends at its start."""
    return bool(_ROUND_TRIP.search(text)) or in_order(text, _GOING, _HOME, apart=".;,")
