"""How well does the lexicon of signs type places by their names alone, language by language?

    python -m benchmarks.perf.sign_words helsinki.osm.pbf=fi liechtenstein.osm.pbf=de [--half held-out]
        [--lexicon sign-lexicon] [--least 30] [--misses 20] [--json]
    python -m benchmarks.perf.sign_words virlton=made --half both

Each extract of OpenStreetMap is given with the language of its country. Names are those of places: `name` in
the language of the country, or in that of its script where that is another one, and `name:xx` in language xx;
each counts once. Stops are left out: they are named for what is near.
The truth is the first of the 20 place types that OpenStreetMap's tags stand for; the answer is the first type
that the lexicon tells. Precision is the share of its answers within the 20 types that are right, over all
named places, recall the share of names with such a truth that are answered rightly.

The names of a made city are those of its shops, and their truth is its plan.

Words are chosen on the tune half alone; which half a place is in is a hash of its id in OpenStreetMap.
"""

import argparse
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from rich.table import Table

from virl.errors import BadInput
from virl.osm.box import SUFFIXES
from virl.osm.extract import read_extract
from virl.osm.places import Pois, pois_of
from virl.platform.city.place_types import types_20
from virl.platform.perception.lexicons.sign_lexicon import Lexicon
from virl.platform.perception.models import Models
from virl.towns.plan.town_plan import Shop

from .figures import Figures, command, figure_table, figures
from .plans import plan_of

COARSER = {
    "fast_food_restaurant": "restaurant",
    "garden": "park",
    "internet_cafe": "cafe",
    "jeweler": "jewelry_store",
    "meal_takeaway": "restaurant",
    "music_school": "school",
    "playground": "park",
    "preschool": "school",
    "sauna": "spa",
}
"""Finer place types, each with the one of the 20 types that it counts as."""
SCRIPTS = {
    "ARABIC": "ar", "CJK": "zh", "CYRILLIC": "ru", "GREEK": "el", "HANGUL": "ko", "HEBREW": "he",
    "HIRAGANA": "ja", "KATAKANA": "ja",
}  # fmt: skip
"""Language that a name is taken to be in, by the first word of its letters' Unicode names."""
_OWN_SCRIPT = {"be", "bg", "mk", "ru", "sr", "uk"}  # languages that Cyrillic letters may be in
_NAMED = re.compile(r"name:([a-z]{2,3})(-\w+)?")


@dataclass(frozen=True, slots=True)
class LabelledName:
    """A name with its language and the true type of the place that bears it."""

    name: str
    language: str
    truth: str | None
    """One of the 20 place types; `None` if the place is none of them."""
    held_out: bool


@dataclass(frozen=True, slots=True)
class Score:
    """The score of typing the names of one language."""

    language: str
    names: int
    """Number of names whose true type is one of the 20."""
    others: int
    """Number of names of other places, which count in the precision."""
    answered: int
    """Number of names that were given one of the 20 types."""
    right: int

    @property
    def precision(self) -> float | None:
        """Share of answers that are right, [0, 1]; `None` without answers."""
        return self.right / self.answered if self.answered else None

    @property
    def recall(self) -> float | None:
        """Share of names that were answered rightly, [0, 1]; `None` without names."""
        return self.right / self.names if self.names else None


def main() -> None:
    """Measure and print how well a lexicon types names."""
    parser = command(__doc__)
    parser.add_argument("extracts", nargs="+", metavar="FILE=LANGUAGE")
    parser.add_argument("--half", choices=["tune", "held-out", "both"], default="tune")
    parser.add_argument("--lexicon", default="sign-lexicon", help="name of a lexicon, or a path")
    parser.add_argument("--least", type=int, default=30, help="names that a language needs in both halves")
    parser.add_argument("--misses", type=int, default=0, help="names to print that were typed wrongly")
    options = parser.parse_args()
    with figures(options) as found:
        _measure(found, options)


def _measure(found: Figures, options: argparse.Namespace) -> None:
    """Record and print how often the lexicon types names rightly, by language."""
    names = [name for extract in options.extracts for name in _read_names(extract)]
    wanted = [
        name for name in names if options.half == "both" or name.held_out == (options.half == "held-out")
    ]
    lexicon = Models().lexicon(options.lexicon)
    answers = {name: answer(lexicon, name.name) for name in wanted}
    enough = Counter(name.language for name in names if name.truth)
    languages = [language for language, count in enough.most_common() if count >= options.least]
    scores = [score(language, answers) for language in languages]
    found["half"] = options.half
    found["languages"] = [
        asdict(each) | {"precision": each.precision, "recall": each.recall} for each in scores
    ]
    found.show(_scores_table(options.half, scores))
    wrong = [(name, given) for name, given in answers.items() if given != name.truth]
    for name, given in sorted(wrong, key=lambda item: (item[1] is None, item[0].language))[: options.misses]:
        found.show(f"  {name.language}  {name.name!r}: {name.truth}, typed {given}")


def labelled_names(pois: Pois, language: str) -> Iterator[LabelledName]:
    """Yield the names of an extract's places with language, true type and half."""
    for number, tags in enumerate(pois.tags):
        if "transit_station" in pois.types[number]:
            continue
        held_out = sha256(pois.ids[number].encode()).digest()[0] % 2 == 1
        truth = next((coarse for kind in pois.types[number] if (coarse := coarse_type(kind))), None)
        own = {(language_of(pois.name(number), language), pois.name(number))}
        told = {(named[1], text.strip()) for key, text in tags.items() if (named := _NAMED.fullmatch(key))}
        for spoken, text in sorted(own | told):
            yield LabelledName(text, spoken, truth, held_out)


def language_of(name: str, language: str) -> str:
    """Return the language of a name: the country's `language`, unless its letters say another."""
    scripts = Counter(unicodedata.name(letter, "").split(" ")[0] for letter in name if letter.isalpha())
    told = [spoken for script, spoken in SCRIPTS.items() if 2 * scripts[script] > scripts.total()]
    if told:
        return language if told == ["ru"] and language in _OWN_SCRIPT else told[0]
    return "other" if language in _OWN_SCRIPT | set(SCRIPTS.values()) else language


def coarse_type(kind: str) -> str | None:
    """Return the one of the 20 types that a place type counts as; `None` if it is none of them."""
    coarse = COARSER.get(kind, kind)
    return coarse if coarse in types_20() else None


def answer(lexicon: Lexicon, name: str) -> str | None:
    """Return the first place type that the lexicon gives a name; `None` if it is none of the 20."""
    return coarse_type(next(iter(lexicon.classify(name)), ""))


def score(language: str, answers: dict[LabelledName, str | None]) -> Score:
    """Return the score of the names of one language, from the answers to all names."""
    own = {name: given for name, given in answers.items() if name.language == language}
    labelled = sum(name.truth is not None for name in own)
    return Score(
        language,
        labelled,
        len(own) - labelled,
        sum(given is not None for given in own.values()),
        sum(given is not None and given == name.truth for name, given in own.items()),
    )


def _read_names(extract: str) -> Iterable[LabelledName]:
    """Return the names in FILE=LANGUAGE; raise BadInput if no language is given."""
    file, mark, language = extract.rpartition("=")
    if not mark:
        raise BadInput(f"{extract!r} does not say its language: give FILE=LANGUAGE, as in town.osm.pbf=fi")
    if not file.endswith(SUFFIXES):
        return _names_of_shops(plan_of(file).shops, language)
    return labelled_names(pois_of(read_extract(Path(file))), language)


def _names_of_shops(shops: Iterable[Shop], language: str) -> Iterator[LabelledName]:
    """Yield the names of shops with their true type; half of them, by id, are held out."""
    for shop in shops:
        held_out = sha256(shop.place.id.encode()).digest()[0] % 2 == 1
        truth = next((coarse for kind in shop.place.types if (coarse := coarse_type(kind))), None)
        yield LabelledName(shop.place.name, language, truth, held_out)


def _scores_table(half: str, scores: Iterable[Score]) -> Table:
    """Return the table of scores by language."""
    columns = ("language", "names", "others", "answered", "precision", "recall")
    table = figure_table(*columns, title=f"{half} half")
    for each in scores:
        shares = ["-" if share is None else f"{share:.0%}" for share in (each.precision, each.recall)]
        table.add_row(each.language, str(each.names), str(each.others), str(each.answered), *shares)
    return table


if __name__ == "__main__":
    main()
