"""The words of a text that the rules act on, leave aside on purpose, or do not understand.

Rules look for words that they know, and are silent on all others. So that no run reports a success for what
was not looked at, each word of a text that drives a run is one of these: used by a rule, a filler of
`platform/rules/understanding.yaml`, or not understood. What is not understood is an aside (manner, a reason,
small talk), or else it narrows what is wanted: the rules refuse that before a run begins.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from virl.errors import MindFailed
from virl.mind.lexicon import load_lexicon, phrase_pattern, stretches_in, words_of
from virl.mind.sentences import (
    ASIDE,
    FILLER,
    NARROWING,
    USED,
    Sentence,
    Word,
    background_within,
    mark_stretches,
    sentences_of,
    understanding_words,
)

_THING = r"(?:one|ones|some|it|that|this|them|those|these|the same|another(?: one)?|any|such)"
_END = (
    r"(?= (?:please|too|again|as well|here|there|now|today|nearby|close by|near|in|at|on|for|with|to|and|or"
    r"|but|like|around)\b|$)"
)
_WITH = re.compile(rf"\b(?:with|without) {_THING}{_END}")
_WANTED = re.compile(
    r"\b(?:wants?|needs?|see|visit|find|gets?|buys?|brings?|fetch(?:es)?|takes?|collects?|choose|pick"
    r"|looking for|looks? for|(?:to|should|must|may|can|could|would|'d) (?:have|like|love)"
    rf"|tr(?:y|ies)|enters?|(?:go|goes|going|back|returns?|walks?) to) {_THING}{_END}"
)
_FOR_AN_ANIMAL = re.compile(
    r"\b(?:where|which|that|who|so|if|when) (?:he|she|it|they)\b.*"
    rf"|\b(?:for|with|lets?|takes?|welcomes?|admits?|allows?|brings?) (?:him|her|it|them){_END}"
)
_OF_A_PLACE = re.compile(r"\b(?:where|so) it\b.*")
"""Pattern of words such as "where it is quiet", in which "it" stands for the place itself."""
_OWNED = re.compile(r"\b(?:had|has|have|with|got|loved|liked) (?:\w+ )?an?\b")
"""Pattern of a mention of a thing, such as "had a dishwasher", to which a later "one" may refer."""
_DENIED = re.compile(r"\b(?:hat(?:e|es|ed)|dislikes?|avoids?|not|no|never|nothing|cannot|\w+n't)\b")
_THERE = re.compile(
    r"(?<!is )(?<!are )\bthere(?!'| (?:is|are|was|were|ha[sd]|have|must|should|may|might|can|could|w\w+)\b)"
    r"|\bthat place\b"
)
_FROM_SOMEBODY = re.compile(
    r"\b(?:from|at|to) (?:him|her|them|his|hers|theirs)(?= (?:and|or|too|today|now)\b|$)"
)
_INTRODUCED = re.compile(
    r"\b(?:find|visit|enter|reach|seek|want|need|for|to|into|in|at|near)(?:e?s)?"
    r" (?:the|an?|some|one|another)\b"
)
"""Pattern of words that introduce a requested place, such as "find a" or "near the"."""
_POINTS = re.compile(
    r"(?:|at|to|in|from|near|into|inside|of|for|by|around|visits?|see|finds?|enters?|try|reach)"
    r" (?:that|those|this|these)"
)
"""Pattern of "that", "this", "those" or "these" and the word before it, where it points at a thing."""
_DEFINITE = re.compile(r"\w* (?:the|his|her|their)")
_ANYBODY = r"(?:i|you|he|she|we|they|it|one|people|everybody|everyone)"
_COMPARED = re.compile(
    r"\bas (?!(?:well|soon|long|far|much|many|fast|quick|\w+ly) )\w+ as"
    rf" (?!(?:possible|usual|ever|can|could)\b|{_ANYBODY} (?:can|could|likes?|wants?)\b)\w+"
    r"|\bas (?:in|at|back|last|before)\b"
    r"|\bas (?:(?:my|his|her|our|their) )?\w+ (?:do|does|did|used to)\b"
    rf"|\bas (?:(?:it|they) (?:is|are|was|were)|{_ANYBODY} (?:find|get|have)s?) (?:in|at|on|back|over)\b"
    rf"|\b(?:kind|sort|type)s? of \w+ (?:(?:that|which|as) )?{_ANYBODY} (?!can\b|could\b)\w+"
)
"""Pattern of a comparison with something known: "a cafe as nice as the one at home"."""
_STATED = re.compile(
    r"(?:(?:and|but|so|now|also|then|well|today) )*"
    r"(?P<article>an?|one|some|the|this|that|my|his|her|our|their)"
    rf"(?: (?!(?:which|that|who|where|what|there|if|when|{_ANYBODY})\b)\w+){{1,5}}?"
    r" (?P<verb>(?:is|are)(?! (?:fine|good|nice|great|lovely|ok|okay|possible|welcome|ready|due|waiting|what"
    r"|all|essential|important|necessary|vital|optional|to be|a must|on)\b)"
    r"|has|have|makes?|gives?|gets?|takes?|shows?|sells?|serves?|offers?|stays?|comes?|goes|looks?)\b"
)
"""Pattern of the beginning of a statement about a place: "A bakery is famous for its rolls"."""
_TIMES = re.compile("hour|day|morning|afternoon|evening|night|week|weekend|month|year|time|trip|order")


def _mark_pointers(sentences: Sequence[Sentence]) -> None:
    """Mark as narrowing the words that refer to a place not requested: "She works in a cafe. Lunch there".

    Words of a comparison are marked too: "a cafe as good as the one at home".
    """
    told, asked = set[str](), set[str]()
    is_asked = is_told = False
    for clause in (clause for sentence in sentences for clause in sentence.clauses()):
        said = " ".join(word.word for word in clause)
        for found in _COMPARED.finditer(said):
            _narrow(clause, said, found, whatever=True)
        wanted = [at for at, word in enumerate(clause) if word.state == USED and not word.is_of_life]
        for found in _THERE.finditer(said):
            is_named = wanted and wanted[0] < _word_index(said, found.start())
            if not (is_asked or (is_named and _INTRODUCED.search(said[: found.start()]))):
                _narrow(clause, said, found, whatever=True)
        for found in _FROM_SOMEBODY.finditer(said) if is_told else ():
            _narrow(clause, said, found)
        for at in wanted:
            noun, pointer = clause[at].word, clause[at - 1] if at else None
            if pointer and pointer.state != USED and not _TIMES.fullmatch(noun):
                lead = f"{clause[at - 2].word if at > 1 else ''} {pointer.word}"
                if (noun not in asked and _POINTS.fullmatch(lead)) or (
                    noun in told and _DEFINITE.fullmatch(lead)
                ):
                    pointer.state = NARROWING
        asked |= {clause[at].word for at in wanted}
        if any(word.is_of_life for word in clause):
            # what comes soon after "a": "owns a small bakery"
            ahead = [{one.word for one in clause[max(0, at - 2) : at]} for at in range(len(clause))]
            told |= {word.word for word, near in zip(clause, ahead, strict=True) if near & {"a", "an", "one"}}
            is_asked, is_told = False, True
        elif wanted and (not is_told or _INTRODUCED.search(said)):
            is_asked = True


def _mark_statements(sentences: Sequence[Sentence], demands: tuple[str, ...]) -> None:
    """Mark statements on places not sought as background; those like "a bakery is ..." also as narrowing."""
    asked = set[str]()
    for clause in (clause for sentence in sentences for clause in sentence.clauses()):
        said = " ".join(word.word for word in clause)
        found = None if phrase_pattern(demands).search(said) else _STATED.match(said)
        verb = _word_index(said, found.start("verb")) if found else 0
        subject = _used_words(clause[:verb])
        # a verb that a rule acts on is part of a wish: "is open", "a parcel is waiting at 137 Union Street"
        if not (found and subject) or clause[verb].state == USED or subject & asked:
            asked |= _used_words(clause)
            continue
        for word in clause:
            word.is_of_life = True
        if found["article"] in ("a", "an", "one", "some"):
            _narrow(clause, said, found, whatever=True)


def _used_words(words: Sequence[Word]) -> set[str]:
    """Return the words in the state `USED`, in lower case."""
    return {word.word for word in words if word.state == USED}


def _mark_references(
    sentences: Sequence[Sentence], animals: tuple[str, ...], told: Collection[Word] = ()
) -> None:
    """Mark as narrowing pronouns for an aside (not `told`) or denied noun: "we had a sauna; a flat with one".

    After words of `animals`, "for him" narrows too; no pronoun refers to `told` words of courtesy and manner.
    """
    before: list[Word] = []
    is_denied = has_animal = is_owned = False
    for clause in (clause for sentence in sentences for clause in sentence.clauses()):
        said = " ".join(word.word for word in clause)
        for pattern in (_WITH, _WANTED):
            for found in pattern.finditer(said):
                own = _content_words(clause[: _word_index(said, found.start())], told)
                if pattern is _WITH:  # the noun just before is what has it
                    own = own if len(_stretch_starts(own, clause)) > 1 else []
                if not own and not before:
                    refers = pattern is not _WITH
                else:
                    refers = any(word.state == USED and not word.is_of_life for word in own or before)
                    denied = _DENIED.search(said[: found.start()]) if own else is_denied
                    refers = refers and not denied and not is_owned
                if not refers:
                    _narrow(clause, said, found)
        for pattern in (_FOR_AN_ANIMAL,) * has_animal + (_OF_A_PLACE,):
            for found in pattern.finditer(said):
                _narrow(clause, said, found)
        has_animal = has_animal or bool(phrase_pattern(animals).search(said))
        if content := _content_words(clause, told):
            before, is_denied = content, bool(_DENIED.search(said))
            is_owned = is_owned or (content[0].state == ASIDE and bool(_OWNED.search(said)))


def _content_words(words: Sequence[Word], told: Collection[Word]) -> list[Word]:
    """Return the content words (no fillers, none in `told`) that a pronoun may stand for."""
    return [
        word
        for word in words
        if word.state == USED or (word.state == ASIDE and not word.word.endswith("ly") and word not in told)
    ]


def _stretch_starts(content: Sequence[Word], clause: Sequence[Word]) -> list[Word]:
    """Return the first word of each stretch of content words that are adjacent in a clause."""
    among = set(content)
    return [word for at, word in enumerate(clause) if word in among and not (at and clause[at - 1] in among)]


def _narrow(clause: Sequence[Word], said: str, found: re.Match[str], *, whatever: bool = False) -> None:
    """Set words of a clause under a match in its text `said` to `NARROWING`; `whatever`: even used ones."""
    for word in clause[_word_index(said, found.start()) : _word_index(said, found.end()) + 1]:
        if whatever or word.state != USED:
            word.state = NARROWING


def _word_index(said: str, position: int) -> int:
    """Return the index of the word at a position in words that are separated by single blanks."""
    return said[:position].count(" ")


ENGLISH_SHARE = 0.34  # of the words: with fewer known ones a text is taken for another language (chosen)
SHORTEST_TEXT = 5  # words of a text from which on its language is judged (chosen)
_SHOWN = 12  # groups of words that an error message names (chosen)


@dataclass(frozen=True, slots=True)
class Reading:
    """A text that says what a run shall do, and the words in it that rules act on."""

    text: str
    used: tuple[str, ...]
    """Stretches of words that rules act on; an ellipsis stands for words in between that are not meant."""
    names: tuple[str, ...] = ()
    """Names of the people that the text speaks of."""
    routine: str = ""
    """Name of the routine whose phrases in the word list's `routines` apply; empty for none."""
    narrowing: tuple[str, ...] = ()
    """Phrases of filler words that here narrow the request, as "every" does where one place is sought."""
    checked: tuple[str, ...] = ()
    """Stretches of text that places are checked for, though other rules read them as kind or price."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """The words of a text in groups: understood by rules, harmless asides, and limits that no rule checks."""

    understood: tuple[str, ...]
    """Groups of words that rules act on."""
    asides: tuple[str, ...]
    """Groups of words of manner, reasons and small talk, which have no effect."""
    narrowing: tuple[str, ...]
    """Groups of words that are not understood and may narrow the request."""
    is_foreign: bool = False
    """True if most of the text is not English."""

    def check(self) -> None:
        """Check that the text is understood: no words that may narrow the request are left.

        Raises:
            MindFailed: some are; names them, and what is understood.
        """
        known = f" (understood: {_quote_list(self.understood)})" if self.understood else ""
        if self.is_foreign:
            raise MindFailed(
                f"the rules speak English only and do not understand {_quote_list(self.narrowing)}{known}: "
                "write it in English, or choose a model with --mind openai:MODEL"
            )
        if self.narrowing:
            raise MindFailed(
                f"the rules do not understand {_quote_list(self.narrowing)}{known}: leave it out, say it "
                "otherwise (names of places with capital letters or in quotation marks), or choose a "
                "model with --mind openai:MODEL"
            )


def understand(reading: Reading) -> Understanding:
    """Return the words of a text in groups: understood, asides, and those that may narrow the request."""
    words = understanding_words()
    marks = list(sentences_of(reading.text))
    # The order matters: most marks leave alone the words that have a state already.
    mark_stretches(marks, reading.used)
    for sentence in marks:
        for name in reading.names:
            sentence.mark((words_of(name), f"{words_of(name)}'s"), FILLER)
        for stretch in stretches_in(sentence.plain_text, words.routines.get(reading.routine, ())):
            sentence.mark_stretch(stretch)
        sentence.narrow((*words.cuisines, *words.superlatives, *words.familiar, *load_lexicon().particulars))
    mark_stretches(marks, reading.checked)
    told = set[Word]()
    for sentence in marks:
        sentence.mark((*words.interjections, *words.manner), ASIDE)
        sentence.mark(reading.narrowing, NARROWING)
        told |= {word for word in sentence.words if word.state == ASIDE}
        first, last = sentence.words[0].start, sentence.words[-1].end
        for start, end, is_certain in background_within(reading.text, first, last):
            sentence.mark_background(start, end, is_certain=is_certain, restrictions=words.restrictions)
        sentence.mark(words.ways, NARROWING)
        sentence.mark(words.fillers, FILLER)
        sentence.mark_name(words.demands)
        sentence.mark_asides(words)
    _mark_statements(marks, words.demands)
    _mark_references(marks, words.animals, told)
    _mark_pointers(marks)
    known = sum(one.count(USED, FILLER, NARROWING) for one in marks)
    for word in (word for sentence in marks for word in sentence.words if word.state == NARROWING):
        word.state = ""
    total = sum(len(one.words) for one in marks)
    narrowing = tuple(group for one in marks for group in one.groups(""))
    return Understanding(
        tuple(dict.fromkeys(group for one in marks for group in one.groups(USED))),
        tuple(group for one in marks for group in one.groups(ASIDE)),
        narrowing,
        bool(narrowing) and total >= SHORTEST_TEXT and known < ENGLISH_SHARE * total,
    )


def _quote_list(groups: Iterable[str]) -> str:
    """Return the first few distinct groups of words, each in quotation marks, separated by commas."""
    return ", ".join(f'"{group}"' for group in list(dict.fromkeys(groups))[:_SHOWN])
