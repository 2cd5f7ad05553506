"""The sentences of a text, with what rules make of each word; clauses on somebody's life are background."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import groupby

from virl import resources
from virl.mind.lexicon import GAP, NEGATION_REACH, phrase_pattern
from virl.settings.model import Settings, load_settings

_TOKEN = re.compile(r"\d+(?:[.:]\d+)+|\w+(?:['\N{RIGHT SINGLE QUOTATION MARK}]\w+)*|[^\w\s]+")
_ENDS, _PAUSES = set(".!?;:()\N{EM DASH}\N{EN DASH}\N{HORIZONTAL ELLIPSIS}\n"), {","}
_QUOTED = re.compile(
    '["\N{LEFT DOUBLE QUOTATION MARK}]([^"\N{LEFT DOUBLE QUOTATION MARK}]*)["\N{RIGHT DOUBLE QUOTATION MARK}]'
)
FILLER, USED, ASIDE, NARROWING = "filler", "used", "aside", "narrowing"
"""States of a word: filler, used by a rule, aside (without effect), and narrowing (an unchecked limit)."""


class UnderstandingWords(Settings):
    """Word lists of `platform/rules/understanding.yaml`, by which rules tell which words of a wish matter."""

    fillers: tuple[str, ...]
    """Words that request nothing by themselves, such as articles."""
    interjections: tuple[str, ...]
    """Phrases of courtesy, small talk and other short remarks."""
    manner: tuple[str, ...]
    """Words for the manner in which somebody does something."""
    reasons: tuple[str, ...]
    """Phrases that begin a reason."""
    no_manner: tuple[str, ...]
    """Words in -ly that express no manner."""
    about_a_thing: tuple[str, ...]
    """Participles that describe a place and no manner of going."""
    people: tuple[str, ...]
    """Phrases that begin a clause about a person."""
    past: tuple[str, ...]
    """Verbs of a clause about the past."""
    demands: tuple[str, ...]
    """Words that make a clause request or exclude something."""
    restrictions: tuple[str, ...]
    """Words that narrow a request wherever they stand: diets, health, access."""
    cuisines: tuple[str, ...]
    """Words of a cuisine, which no place is checked for."""
    superlatives: tuple[str, ...]
    """Superlatives that single out one place, where a rule reads only a quality."""
    ways: tuple[str, ...]
    """Combinations of fillers that together name a direction or a part of town."""
    familiar: tuple[str, ...]
    """Combinations of fillers that together refer to one known thing."""
    animals: tuple[str, ...]
    """Words for animals that come along, so that a place has to admit them."""
    routines: dict[str, tuple[str, ...]]
    """Phrases that a routine acts on anyway or reads in its own way, by the routine's name."""


@cache
def understanding_words() -> UnderstandingWords:
    """Return the word lists of `platform/rules/understanding.yaml`, which comes with virl.

    Raises:
        BadInput: it is broken; names line and field.
    """
    return load_settings(resources.data_folder("platform/rules") / "understanding.yaml", UnderstandingWords)


@dataclass(slots=True, eq=False)
class Word:
    """A word of a sentence: its position in the text, its clause, and its state of understanding."""

    word: str
    """The word in lower case."""
    start: int
    """Index of its first character in the text."""
    end: int
    """Index behind its last character in the text."""
    clause: int
    """Number of its clause within the sentence, from 0; commas end clauses."""
    is_quoted: bool
    state: str = ""
    """State that the rules set, such as `USED`; empty for a word that is not understood."""
    is_of_life: bool = False
    """True if the word's clause tells of somebody's life or of a place as it is, and so requests nothing."""


@dataclass(slots=True)
class Sentence:
    """A sentence of a text as its words, each with a state that the rules set."""

    text: str
    """The whole text that the sentence is part of."""
    words: list[Word] = field(default_factory=list)
    is_exclaimed: bool = False

    @property
    def plain_text(self) -> str:
        """The words of the sentence, separated by single blanks."""
        return " ".join(word.word for word in self.words)

    def count(self, *states: str) -> int:
        """Return the number of words in one of the given states."""
        return sum(word.state in states for word in self.words)

    def mark(self, phrases: tuple[str, ...], state: str) -> None:
        """Set the state of words that occur in one of the phrases, unless quoted or in a state already."""
        for word in self._words_of(phrases):
            if not word.state and not word.is_quoted:
                word.state = state

    def mark_stretch(self, stretch: str) -> None:
        """Set the words of a stretch to `USED` wherever it occurs; a `GAP` in it stands for other words."""
        first, *others = [_words_in(piece) for piece in stretch.split(GAP)]
        for begun in self._places(first, range(len(self.words))):
            spans = [range(begun, begun + len(first))]
            for piece in others:
                after = spans[-1].stop
                found = next(self._places(piece, range(after, after + 2 * NEGATION_REACH)), None)
                if found is None:
                    break
                spans.append(range(found, found + len(piece)))
            else:
                for span in spans:
                    for at in span:
                        self.words[at].state = USED

    def narrow(self, phrases: tuple[str, ...]) -> None:
        """Set all words of phrases to `NARROWING`, whatever state they have."""
        for word in self._words_of(phrases):
            word.state = NARROWING

    def mark_background(
        self, start: int, end: int, *, is_certain: bool, restrictions: tuple[str, ...]
    ) -> None:
        """Mark the words from `start` to `end` as on somebody's life: asides if `is_certain`, else narrowing.

        Args:
            start: index of the stretch's first character in the text.
            end: index behind its last character.
            is_certain: whether it surely requests nothing; else its words narrow what is wanted.
            restrictions: phrases that narrow a request; a certain stretch with one keeps its states.
        """
        first, last = (bisect_left(self.words, at, key=lambda word: word.start) for at in (start, end))
        for word in self.words[first:last]:
            word.is_of_life = True
        told = [word for word in self.words[first:last] if word.state != USED]
        if not is_certain or not _has_phrase(restrictions, " ".join(word.word for word in told)):
            for word in told:
                word.state = ASIDE if is_certain else NARROWING

    def mark_name(self, demands: tuple[str, ...]) -> None:
        """Mark a name at the start before a verb or "who" as filler; not a word of `demands`."""
        if len(self.words) < 2:
            return
        first, second = self.words[:2]
        is_name = (
            self.text[first.start].isupper() and not first.state and not _has_phrase(demands, first.word)
        )
        is_verb = _VERB.fullmatch(second.word) or (second.state == ASIDE and second.word.endswith("s"))
        if is_name and (is_verb or second.word == "who"):
            first.state = FILLER

    def mark_asides(self, words: UnderstandingWords) -> None:
        """Mark words of reasons, manner and small talk (lists: `words`) as asides, unless rules used them."""
        goes_on, apart = False, True
        for clause in self.clauses():
            said = " ".join(word.word for word in clause)
            reason = next(iter(_spans([word.word for word in clause], words.reasons)), None)
            opened = reason[0] if reason else None
            if goes_on and not _has_phrase(words.demands, said) and opened is None:
                opened = 0
            restricts = _has_phrase(words.restrictions, said)
            if opened is not None and not restricts:
                # the next clause may be part of the reason: "because he is tired and"
                goes_on = clause[-1].word in ("and", "or") or (
                    goes_on and all(word.state in (ASIDE, FILLER) for word in clause)
                )
                _mark_rest_as_aside(clause[opened:])
            elif not restricts and self._is_small_talk(clause, said, words, apart=apart):
                _mark_rest_as_aside(clause)
            apart = apart and not any(word.state == USED for word in clause)
        for word, after in zip(self.words, [*self.words[1:], None], strict=True):
            plain = word.word.endswith("ly") and not _has_phrase(words.no_manner, word.word)
            if not word.state and plain and (after is None or after.state or after.clause != word.clause):
                word.state = ASIDE

    def groups(self, state: str) -> Iterator[str]:
        """Yield each stretch of words with a state, such as `ASIDE`, as in the text; fillers within stay."""
        begun: int | None = None
        last = 0
        for at, word in enumerate(self.words):
            ends = begun is not None and (
                word.clause != self.words[begun].clause
                or word.state not in (state, FILLER)
                or (state == USED and word.word in _JOINING)
            )
            if ends and begun is not None:
                yield self._phrase(begun, last, state)
                begun = None
            if word.state == state:
                begun, last = at if begun is None else begun, at
        if begun is not None:
            yield self._phrase(begun, last, state)

    def _phrase(self, first: int, last: int, state: str) -> str:
        """Return the text from word `first` to word `last`; for an empty `state` also fillers before it."""
        clause = self.words[first].clause if self.words[first].clause == self.words[last].clause else None
        while not state and first:
            before = self.words[first - 1]
            if before.state != FILLER or before.clause != clause or before.word not in _LEADING:
                break
            first -= 1
        return " ".join(self.text[self.words[first].start : self.words[last].end].split())

    def clauses(self) -> Iterator[list[Word]]:
        """Yield the words of each clause of the sentence; commas end clauses."""
        for _, words in groupby(self.words, key=lambda word: word.clause):
            yield list(words)

    def _is_small_talk(
        self, clause: list[Word], said: str, words: UnderstandingWords, *, apart: bool
    ) -> bool:
        """Return whether a clause of text `said` requests nothing; `apart`: rules used no word before it.

        With `apart`, no rule used a word of the sentence before the clause.
        """
        if any(word.state in (USED, NARROWING) or word.is_quoted for word in clause):
            return False
        said = re.sub(r"^(?:and|but|so|anyway) ", "", said)
        if (
            _has_phrase(words.past, said)
            and not _has_phrase(("which|that",), said)
            and not _has_phrase(words.demands, said.split()[0])
        ):
            return True
        if _has_phrase(words.demands, said) or any(word.word[0].isdigit() for word in clause):
            return False
        begins = next(_spans(said.split(), words.people), (1, 1))[0] == 0
        way = said.split()[0].endswith("ing") and not _has_phrase(words.about_a_thing, said)
        shouts = self.is_exclaimed and said.split()[0] not in _LEADING
        return begins or shouts or (apart and (way or said.startswith("who ")))

    def _words_of(self, phrases: tuple[str, ...]) -> Iterator[Word]:
        """Yield the words of each phrase that occurs in the sentence."""
        for first, last in _spans([word.word for word in self.words], phrases):
            yield from self.words[first:last]

    def _places(self, piece: list[str], within: range) -> Iterator[int]:
        """Yield the indices, within a range, at which the words of `piece` occur in the sentence."""
        said = [word.word for word in self.words]
        return (at for at in within if piece and said[at : at + len(piece)] == piece)


_VERB = re.compile(
    r"is|has|was|would|must|can|could|will|should|(?:want|need|look|seek|like|love|walk|stroll|wander|roll|come|ask|tell|find"
    r"|take|visit|count|hope|feel|head|move|live|stay|read|plan|drive|ride|travel|start|think|know|bring|carrie|fetche"
    r"|goe|buy|wishe|collect|deliver|return|wait|enter|stop|turn|leave|run|work|say|report|search|searche|keep)s"
)
"""Pattern of a whole verb in the third person, such as "strolls", that follows somebody's name."""
_JOINING = frozenset(("and", "or", "but", "then"))
_ARTICLES, _PRONOUNS = ("a", "an", "the"), ("that", "which", "who")
_PREPOSITIONS = ("in", "on", "at", "of", "with", "to", "from", "by", "for", "over", "under")
_LEADING = frozenset((*_ARTICLES, *_PREPOSITIONS, *_PRONOUNS))
"""Fillers that are quoted together with words that are not understood if they stand before these."""


def _mark_rest_as_aside(clause: list[Word]) -> None:
    """Set the words of a clause to `ASIDE`, except those in the state `USED`."""
    for word in clause:
        if word.state != USED:
            word.state = ASIDE


def _has_phrase(phrases: tuple[str, ...], said: str) -> bool:
    """Return whether lower-case words, separated by blanks, contain one of the phrases."""
    return bool(phrase_pattern(phrases).search(said))


def _spans(words: list[str], phrases: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Yield (index of first word, index after last word) of each occurrence of a phrase among words."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word) + 1)
    for match in phrase_pattern(phrases).finditer(" ".join(words)):
        yield bisect_right(starts, match.start()) - 1, bisect_right(starts, match.end())


def _words_in(stretch: str) -> list[str]:
    """Return the words of a stretch in lower case, without punctuation."""
    plain = stretch.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return [token for token in _TOKEN.findall(plain) if token[0].isalnum() or token[0] == "_"]


def mark_stretches(sentences: Sequence[Sentence], stretches: Iterable[str]) -> None:
    """Set the words of stretches to `USED` in every sentence where they occur, as `Sentence.mark_stretch`."""
    containing: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        for word in {word.word for word in sentence.words}:
            containing.setdefault(word, []).append(sentence)
    for stretch in dict.fromkeys(stretches):
        begun = _words_in(stretch.partition(GAP)[0])
        # its rarest word leads to few sentences, so that long texts are read in linear time
        for sentence in min((containing.get(word, []) for word in begun), key=len, default=[]):
            sentence.mark_stretch(stretch)


def sentences_of(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, their words numbered by clause between commas."""
    quoted = {letter for found in _QUOTED.finditer(text) for letter in range(*found.span(1))}
    sentence, clause = Sentence(text), 0
    end = 0
    for token in _TOKEN.finditer(text):
        # An empty line ends a sentence without a full stop, such as a heading.
        if "\n\n" in text[end : token.start()] and sentence.words:
            yield sentence
            sentence, clause = Sentence(text), 0
        end = token.end()
        if token[0][0].isalnum() or token[0][0] == "_":
            word = token[0].lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
            sentence.words.append(Word(word, token.start(), token.end(), clause, token.start() in quoted))
        elif _ENDS & set(token[0]):
            sentence.is_exclaimed = "!" in token[0]
            if sentence.words:
                yield sentence
            sentence, clause = Sentence(text), 0
        elif _PAUSES & set(token[0]):
            clause += 1
    if sentence.words:
        yield sentence


_KIN = (
    r"(?:wife|husband|partner|mother|mum|mom|father|dad|parents?|sisters?|brothers?|sons?|daughters?|kids?"
    r"|child|children|baby|aunts?|uncles?|cousins?|nieces?|nephews?|grand\w+|girlfriend|boyfriend|friends?"
    r"|neighbou?rs?|boss|colleagues?|flatmates?|landlord|teacher)"
)
_RELATIVE = rf"(?i:(?:my|his|her|our|their|an?|the) (?:\w+ )?{_KIN}|(?:uncle|aunt|mr|mrs|ms|dr)\.? \w+)"
_NAME = (
    r"(?!(?:There|This|That|It|Then|Today|Here|What|Who|Now|Some|One)\b)"
    r"[A-Z][\w-]+(?: [A-Z][\w-]+)?(?! (?:were|are|have)\b)"
)
_SUBJECT = rf"(?:{_RELATIVE}|(?i:i|he|she|we|they)|{_NAME})(?:(?i:,? who))?"
_LEAD = r"(?i:(?:and|but|so|well|because|since|as|yesterday|last \w+|this morning|once|years ago),? )*+"
_LIVES = (
    r"(?:works?(?! out)|lives?|study|studies|teach(?:es)?|resides?|comes? from|used to \w+"
    r"|(?:am|is|are|'m|'s|'re) (?:from|married|born|an? \w+ (?:\w+ )?(?:at|in|for|by|near|of)))"
)
_OF_KIN = r" (?:(?:is|are) (?:an?|at|in|called)|(?!(?:has|is|likes|loves|hates|enjoys|prefers)\b)\w+[^\Ws]s)"
_HAS_DONE = (
    r"(?:'ve|'d|'s)?(?: (?:have|has|had))?(?: (?:already|just|once|both|also|only|still|even|\w+ly))*"
    r" (?:was|were|been|went|gone|came|met|had|worked|lived|grew up|studied|ate|eaten|spent|visited|stayed"
    r"|walked)"
)
_USUALLY = (
    r" (?:always|usually|often|normally|sometimes|generally|mostly|typically|regularly)"
    r" (?!likes?\b|loves?\b|enjoys?\b|prefers?\b)\w+"
)
_BACKGROUND = re.compile(
    rf"\s*{_LEAD}(?:{_RELATIVE}(?i:,? who)?(?i:{_OF_KIN})"
    rf"|{_SUBJECT}(?:(?i:(?: \w+ly| also| both| still)?(?: |(?=')){_LIVES}|{_HAS_DONE}|{_USUALLY})))\b"
    r"|\s*(?i:the \w+ (?:knows|likes|remembers|greets|trusts) (?:me|him|her|us|them))\b"
    rf"|\s*(?i:who (?:{_LIVES}|was|were|went))\b"
)
"""Pattern of the beginning of a clause about somebody's life: a state, the past, or a habit."""
_ASKS = re.compile(
    r"\b(?:wants?|needs?|wish(?:es)?|hop(?:es?|ing)|must|should|ought|would|please|looking|searching"
    r"|asks?|requests?|today|hungry|enough|fond|keen|crazy|mad|afraid|scared|interested"
    r"|(?:have|has) to|had better|(?:run |ran )?out of|short of|low on|no|not|nothing|never|without|only"
    r"|except|better|(?:been|was|were) \w+ing"
    r"|(?<!used )to (?!(?:the|an?|my|his|her|our|their|your|this|that|me|him|us|them|you"
    r"|work|school|church|town|bed|college|university)\b)[a-z]\w*"
    r"|accident|puncture|flat tyre|\w*ache|fever|cough|pain|hurt|sick|ill|leak\w*|broke\w*|stolen|robbed"
    r"|lost|locked|stuck|stung|bitten|trouble|problem|fall|fallen|crash)(?!\w)|n't\b|'d like"
)
"""Pattern of a clause that requests something, or tells of a trouble for which there are places."""
_ORDERED = re.compile(
    r"\b(?:then|afterwards|after (?:that|this)|for (?:an?|one|two|three|half) \w+|first)\b", re.IGNORECASE
)
_PART = re.compile(r"[^.;:!?\n()\N{EM DASH}\N{EN DASH}]+")
_CLAUSE = re.compile(
    r"(?:(?!,|\s(?:but|so|although|though|while|whereas)\b"
    r"|\sand (?!(?:the|an?|at|in|on|near|by|my|his|her|our|their|for|with|of|from)\b)).)++",
    re.IGNORECASE,
)
"""Pattern of text up to a clause's end; "and" before a noun is no end, as in "at the bank and the gym"."""
_GAP = re.compile(r"(?:,|\s(?:and|but|so|although|though|while|whereas)\b)?\s*", re.IGNORECASE)
_APPOSED_TO = re.compile(rf"\s*{_LEAD}(?:{_RELATIVE}|{_NAME}),\s*")
_NOUN = re.compile(r",\s*(?:(?:and|or) )?(?:the|an?|at|in|on|near|by) [^,]*", re.IGNORECASE)


@lru_cache(maxsize=256)
def background_spans(text: str) -> tuple[tuple[int, int, bool], ...]:
    """Return (start, end, certain) of each clause about somebody's life; certain if it requests nothing.

    Start and end are indices of characters in the text.
    """
    return tuple(_find_background(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))


def background_within(text: str, start: int, end: int) -> tuple[tuple[int, int, bool], ...]:
    """Return (start, end, certain) as `background_spans` for the clauses that overlap a stretch of the text.

    Args:
        text: a wish or a description.
        start: index of the stretch's first character in the text.
        end: index behind its last character.
    """
    spans = background_spans(text)
    first = bisect_right(spans, start, key=lambda span: span[1])
    return spans[first : bisect_left(spans, end, key=lambda span: span[0])]


def _find_background(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield (start, end, certain) of each clause about somebody's life; certain if it requests nothing."""
    for part in _PART.finditer(text):
        at, last = part.span()
        last_order = max((found.start() for found in _ORDERED.finditer(text, at, last)), default=-1)
        while at < last:
            begun = _BACKGROUND.match(text, at, last)
            clause = _CLAUSE.match(text, begun.end() if begun else at, last)
            end = clause.end() if clause else begun.end() if begun else at
            if (
                begun
                and not _ASKS.search(text[at:end].lower())
                and last_order < end
                and not _ORDERED.search(text, at, end)
            ):
                is_apposed = begun[0].strip().lower().startswith("who ")
                yield at, end, not is_apposed or bool(_APPOSED_TO.fullmatch(text, part.start(), at))
                while noun := _NOUN.match(text, end, last):
                    yield *noun.span(), False
                    end = noun.end()
            gap = _GAP.match(text, end, last)
            at = max(gap.end() if gap else end, at + 1)


def asked_for(text: str) -> str:
    """Return a text of the same length, with blanks in place of the clauses about somebody's life."""
    kept, done = [], 0
    for start, end, _ in background_spans(text):
        kept += [text[done:start], " " * (end - start)]
        done = end
    return "".join([*kept, text[done:]])
