"""Sentences of a wish that tell of somebody's life, such as "He works at the bank", and ask for nothing."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

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
"""A beginning of a clause about somebody's life: a state, something past, or a habit."""
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
"""Words of a clause that asks for something, or tells of a trouble for which there are places."""
_ORDERED = re.compile(
    r"\b(?:then|afterwards|after (?:that|this)|for (?:an?|one|two|three|half) \w+|first)\b", re.IGNORECASE
)
_PART = re.compile(r"[^.;:!?\n()\N{EM DASH}\N{EN DASH}]+")
_CLAUSE = re.compile(
    r"(?:(?!,|\s(?:but|so|although|though|while|whereas)\b"
    r"|\sand (?!(?:the|an?|at|in|on|near|by|my|his|her|our|their|for|with|of|from)\b)).)++",
    re.IGNORECASE,
)
"""The rest of a clause; "and" goes on with it where a noun follows, as in "works at the bank and the gym"."""
_GAP = re.compile(r"(?:,|\s(?:and|but|so|although|though|while|whereas)\b)?\s*", re.IGNORECASE)
_APPOSED_TO = re.compile(rf"\s*{_LEAD}(?:{_RELATIVE}|{_NAME}),\s*")
_NOUN = re.compile(r",\s*(?:(?:and|or) )?(?:the|an?|at|in|on|near|by) [^,]*", re.IGNORECASE)


@lru_cache(maxsize=256)
def background_spans(text: str) -> tuple[tuple[int, int, bool], ...]:
    """Return the clauses of a text about somebody's life.

    Returns:
        Start, end, and whether it is certain that nothing in it is asked for.
    """
    return tuple(_spans(text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))


def background_within(text: str, start: int, end: int) -> tuple[tuple[int, int, bool], ...]:
    """Return the clauses of `background_spans` that share letters with a stretch of the text."""
    spans = background_spans(text)
    first = bisect_right(spans, start, key=lambda span: span[1])
    return spans[first : bisect_left(spans, end, key=lambda span: span[0])]


def _spans(text: str) -> Iterator[tuple[int, int, bool]]:
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
    """Return a text with blanks in place of what tells of somebody's life."""
    kept, done = [], 0
    for start, end, _ in background_spans(text):
        kept += [text[done:start], " " * (end - start)]
        done = end
    return "".join([*kept, text[done:]])
