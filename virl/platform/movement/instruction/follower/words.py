"""Instruction text to plain words: lower case, spelled the same way, numbers as digits, few synonyms.

What comes out is one string of words and `.` `,` between single spaces, which the grammar reads. Words in
capitals stand for a thing that people name in many ways, such as `LIGHT` for "set of traffic lights".
"""

import re
import unicodedata

MAX_WORDS = 2000  # chosen: ten times the longest instruction people write

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
    r"(?:the )?(?:street|road|until it) (?:dead )?(?:ends|runs out)|dead[ -]?ends?|no longer go straight|"
    r"until you can not(?: (?:go|move|continue|walk|proceed))?"
    r"(?: (?:straight|forward|further|any|more|longer|anymore))*|"
    r"can not (?:go|continue|move) (?:straight|forward|further)|as far as you can(?: (?:go|straight))*|"
    r"(?:have|forced) to (?:turn|veer|go (?:left|right))": "ROADEND",
    r"side[ -]?streets?|side[ -]?roads?|alley(?:way)?s?": "SIDESTREET",
}

_TOKEN = re.compile(r"\d+/\d+|\d+ ?%|[a-z0-9][a-z0-9'&-]*|[.,;:!?]")
_PAUSES = {";": ".", ":": ",", "!": ".", "?": "."}


def _compiled(table: dict[str, str]) -> list[tuple[re.Pattern[str], str]]:
    return [(re.compile(rf"(?<![\w/])(?:{pattern})(?![\w/])"), word) for pattern, word in table.items()]


def _number_table() -> dict[str, str]:
    table = {word: str(value) for value, word in enumerate(_NUMBERS, 1)}
    return table | {word: _ordinal(value) for value, word in enumerate(_ORDINALS, 1)}


def _ordinal(value: int) -> str:
    return f"{value}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(value, 'th') }"


_NUMBER_OF = _number_table()
_SPELLING_RULES = _compiled(_SPELLING)
_SYNONYM_RULES = _compiled(_SYNONYMS)


def normalise(text: str) -> str:
    """The words of an instruction as the grammar reads them, at most `MAX_WORDS` of them."""
    plain = (
        unicodedata.normalize("NFKC", text[: 20 * MAX_WORDS])
        .lower()
        .replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    )
    plain = re.sub(r"(?<=\s)\d\.(?=\s)|^\d\.(?=\s)", ".", plain)  # "1. Go ... 2. Turn ..."
    plain = re.sub(r"(?<=[a-z])/(?=[a-z])", " ", plain)
    plain = re.sub(r"(?<=[a-z] )[-\N{EN DASH}\N{EM DASH}]+(?= [a-z])", ",", plain)
    words = [_PAUSES.get(word, word) for word in _TOKEN.findall(plain)[:MAX_WORDS]]
    words = [_NUMBER_OF.get(word, word) for word in _split_hyphens(words)]
    line = _rewrite(" ".join(words), _SPELLING_RULES)
    line = " ".join(_NUMBER_OF.get(word, word) for word in line.split())
    return " ".join(_rewrite(line, _SYNONYM_RULES).split())


def _split_hyphens(words: list[str]) -> list[str]:
    keep = {"t-intersection", "t-junction"}
    return [part for word in words for part in ([word] if word in keep else word.split("-")) if part]


def _rewrite(line: str, rules: list[tuple[re.Pattern[str], str]]) -> str:
    for pattern, word in rules:
        line = pattern.sub(word, line)
    return line
