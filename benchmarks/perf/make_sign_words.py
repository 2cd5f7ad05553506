"""Makes `platform/words/sign-words.yaml`: words on signs, from translated presets of OpenStreetMap.

    npm pack @openstreetmap/id-tagging-schema && tar xzf openstreetmap-id-tagging-schema-*.tgz
    python -m benchmarks.perf.make_sign_words package platform/words/sign-words.yaml

A preset such as `shop/bakery` has a name, other names and terms to search by in each language. Its tags say
the place type. Names become `names`. A term becomes one if it shares a stem with a name or is a name in
another language; it becomes a hint if no other preset of its language has it. What speaks of two types is
left out.
"""

import argparse
import json
import re
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from virl.errors import BadInput
from virl.files.writing import write_whole
from virl.osm.places import place_types
from virl.platform.perception.lexicons.sign_lexicon import Lexicon, LexiconSettings, key_of, token_count
from virl.platform.perception.models import model_file
from virl.settings.model import load_settings

LANGUAGES: Mapping[str, tuple[str, ...]] = {
    **{code: (code,) for code in (
        "ar", "bg", "ca", "cs", "da", "de", "el", "es", "et", "fa", "fi", "fr", "gl", "he", "hr", "hu", "id",
        "it", "ja", "ko", "mk", "nl", "pl", "ro", "ru", "sk", "sl", "sr", "sv", "tr", "uk", "vi",
    )},
    "nb": ("no", "nb"),
    "pt": ("pt", "pt-BR"),
    "zh": ("zh-CN", "zh-TW", "zh-HK"),
}  # fmt: skip
"""Languages, each with the package's locales that it is read from; English is written by hand."""
COMPOUNDING = ("da", "de", "et", "fi", "hu", "nb", "nl", "sv")
"""Languages that write compound words as one."""
COARSER = {
    "fast_food_restaurant": "meal_takeaway",
    "garden": "park",
    "jeweler": "jewelry_store",
    "playground": "park",
    "preschool": "school",
    "sauna": "spa",
}
"""Types that the lexicon has under a coarser name."""
LEFT_OUT = frozenset(
    {"amenity/public_bookcase", "amenity/toy_library", "railway/subway_entrance", "shop/chemist"}
)
"""Presets left out, as their sign names no such place, or their translation means another one."""
SHORTEST = 5
"""Least letters of a word in scripts with vowels and spaces. Chosen: shorter ones mean several things."""
STEM = 5
"""Number of letters that two words with a common stem share. Chosen."""
MOST_TOKENS = 3
"""Most tokens of a word or phrase. Chosen: nobody writes longer phrases on a sign."""

NAME, STEMMED, TERM = 3, 2, 1
"""Certainty that a word means a preset: as a name, a term with a name's stem, or another term."""
_PARTS = re.compile(r"[/,;、・،|\n]| - ")
_REMARK = re.compile(r"[(\uff08\[][^)\uff09\]]*[)\uff09\]]?")  # brackets, also the wide ones
_PLAIN = re.compile(r"[^\W\d_][^\d_*:#\"?!&@]*")
_CONSONANTS = re.compile("[\u0590-\u06ff]")  # Hebrew and Arabic, whose words are short
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class ChosenWord:
    """A word chosen for a place type in a language, as a name or only a hint."""

    place_type: str
    language: str
    word: str
    is_name: bool
    """True for a name of the type, false for a hint at it."""


def as_yaml(found: list[ChosenWord], compounding: Iterable[str], version: str, licence: str) -> str:
    """Return the text of the YAML file of chosen words, with the source and its licence in comments.

    Args:
        found: the words.
        compounding: languages that write words together.
        version: of the package.
        licence: of the package, in full.
    """
    grouped: dict[str, dict[str, dict[str, list[str]]]] = {}
    for one in found:
        groups = grouped.setdefault(one.place_type, {"names": {}, "hints": {}})
        groups["names" if one.is_name else "hints"].setdefault(one.language, []).append(one.word)
    lines = [
        *_comment(
            "Words on signs in many languages, a supplement to place-types.yaml. Made by "
            "benchmarks/perf/make_sign_words.py: do not edit it, write words in place-types.yaml, which wins."
        ),
        "#",
        *_comment(
            "Source: names and search terms of the presets of @openstreetmap/id-tagging-schema "
            f"{version} (npm), with their translations. Its licence:"
        ),
        "#",
        *(f"# {line}".rstrip() for line in licence.strip().splitlines()),
        f"compounding: [{', '.join(compounding)}]",
        "types:",
    ]
    for kind, groups in sorted(grouped.items()):
        lines.append(f"  {kind}:")
        for group, languages in groups.items():
            lines += [f"    {group}:"] if languages else []
            for language, words in sorted(languages.items()):
                lines += _wrap(f"{language}: {', '.join(words)}", "      ", "        ")
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    """Return a text as lines of YAML comment, at most 110 characters each."""
    return _wrap(text, "# ", "# ")


def _wrap(text: str, first: str, later: str) -> list[str]:
    """Return a text in lines of at most 110 characters, the first and later ones indented as given."""
    return textwrap.wrap(
        text,
        110,
        initial_indent=first,
        subsequent_indent=later,
        break_long_words=False,
        break_on_hyphens=False,
    )


@dataclass(slots=True)
class _Claims:
    """The place types that a word may stand for, by certainty, and the presets that have the word."""

    by_type: dict[str, int] = field(default_factory=dict)
    """Certainty rank (`NAME`, `STEMMED` or `TERM`) of each place type; "" is no type."""
    presets: set[str] = field(default_factory=set)
    """Names of the presets that have the word."""

    def add(self, place_type: str, preset: str, rank: int) -> None:
        """Add a preset's place type with its rank; a type keeps its best rank."""
        self.by_type[place_type] = max(rank, self.by_type.get(place_type, 0))
        self.presets.add(preset)


def main() -> None:
    """Write the file of words from the unpacked package."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("package", type=Path, help="folder of the unpacked npm package")
    parser.add_argument("output", type=Path)
    options = parser.parse_args()
    own = load_settings(model_file("sign-lexicon"), LexiconSettings)
    about = json.loads((options.package / "package.json").read_text(encoding="utf-8"))
    licence = (options.package / "LICENSE.md").read_text(encoding="utf-8")
    text = as_yaml(read_words(options.package, Lexicon(own)), COMPOUNDING, about["version"], licence)
    write_whole(options.output, text.encode(), "run it again")


def read_words(package: Path, lexicon: Lexicon) -> list[ChosenWord]:
    """Return the words of the package for the place types of a lexicon, in a fixed order.

    Args:
        package: the folder.
        lexicon: the words that were chosen by hand; what they type otherwise is left out.

    Raises:
        BadInput: the folder holds no such package.
    """
    try:
        presets = json.loads((package / "dist/presets.json").read_text(encoding="utf-8"))
    except OSError as error:
        raise BadInput(f"{package}: not the unpacked npm package @openstreetmap/id-tagging-schema") from error
    meant = {name: _type_of(name, preset["tags"], lexicon.types) for name, preset in presets.items()}
    said = {language: _claims(package, language, meant) for language in LANGUAGES}
    names: dict[str, set[str]] = defaultdict(set)
    for claims in said.values():
        for word, claim in claims.items():
            names[key_of(word)] |= {kind for kind, rank in claim.by_type.items() if rank == NAME and kind}
    english = _tokens_by_type(_claims(package, "en", meant, every=True))
    found = []
    for language, claims in said.items():
        tokens = _tokens_by_type(claims)
        for word, claim in sorted(claims.items()):
            for kind, is_name in _choose_type(claim, names[key_of(word)]):
                elsewhere = english.get(key_of(word), set())
                if elsewhere <= {kind} if is_name else not elsewhere and tokens[key_of(word)] <= {kind}:
                    found.append(ChosenWord(kind, language, word, is_name))
    return _without_phrases(_drop_ambiguous([one for one in found if not _contradicts(one, lexicon)]))


def _type_of(name: str, tags: Mapping[str, str], types: Collection[str]) -> str:
    """Return the place type of a preset by its tags, one of `types`; empty without one."""
    if name in LEFT_OUT or "*" in tags.values():
        return ""
    tags = {"amenity" if key == "education" else key: value for key, value in tags.items()}
    return next((kind for each in place_types(tags) if (kind := COARSER.get(each, each)) in types), "")


def _claims(
    package: Path, language: str, meant: Mapping[str, str], *, every: bool = False
) -> dict[str, _Claims]:
    """Return the words of a language with their claims; `every` takes unfit and finer ones too."""
    claims: dict[str, _Claims] = defaultdict(_Claims)
    for locale in LANGUAGES.get(language, (language,)):
        text = (package / f"dist/translations/{locale}.json").read_text(encoding="utf-8")
        for preset, words in json.loads(text)[locale]["presets"]["presets"].items():
            names = {
                *_words(words.get("name", ""), every=every),
                *_words(words.get("aliases", ""), every=every),
            }
            terms = set(_words(words.get("terms", ""), every=every)) - names
            for word in names:
                claims[word].add(meant.get(preset, ""), preset, NAME)
            for word in terms if every or not _is_fine(preset) else ():
                rank = STEMMED if any(_share_affix(word, name) for name in names) else TERM
                claims[word].add(meant.get(preset, ""), preset, rank)
    return claims


def _is_fine(preset: str) -> bool:
    """Return whether a preset is a kind of another one, such as `amenity/restaurant/sushi`."""
    return preset.count("/") > 1


def _words(text: str, *, every: bool) -> Iterator[str]:
    """Yield the words in a preset's text that are fit for signs; with `every` all of them."""
    for part in _PARTS.split(_REMARK.sub(" ", text)):
        word = " ".join(part.split()).lower().replace("i\u0307", "i").strip(".")
        shortest = 2 if _UNSPACED.search(word) else 3 if _CONSONANTS.search(word) else SHORTEST
        fit = len(key_of(word)) >= shortest and token_count(word) <= MOST_TOKENS
        if word and (every or (fit and _PLAIN.fullmatch(word))):
            yield word


def _tokens_by_type(claims: Mapping[str, _Claims]) -> dict[str, set[str]]:
    """Return the place types of the words that hold a token, by the token's key."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for word, claim in claims.items():
        for token in word.split():
            kinds[key_of(token)] |= set(claim.by_type)
    unspaced = [(key_of(word), claim) for word, claim in claims.items() if _UNSPACED.search(word)]
    for key, _ in unspaced:
        kinds[key] |= {kind for other, claim in unspaced if key in other for kind in claim.by_type}
    return kinds


def _share_affix(word: str, name: str) -> bool:
    """Return whether a term and a name share their first letters, or the term ends with the name."""
    one, other = key_of(word), key_of(name)
    if _UNSPACED.search(word):
        return other in one
    return min(len(one), len(other)) >= STEM and (one[:STEM] == other[:STEM] or one.endswith(other))


def _choose_type(claim: _Claims, named: Collection[str]) -> Iterator[tuple[str, bool]]:
    """Yield (place type that a word means, whether as a name), at most once; nothing if in doubt."""
    best = max(claim.by_type.values())
    kinds = [kind for kind, rank in claim.by_type.items() if rank == best]
    known = len(named) == 1 and set(named) <= set(kinds)
    if known:
        yield next(iter(named)), True
    elif len(kinds) > 1 or not kinds[0]:
        return
    elif best > TERM:
        yield kinds[0], True
    elif len(claim.presets) == 1 and not named:
        yield kinds[0], False


def _drop_ambiguous(found: list[ChosenWord]) -> list[ChosenWord]:
    """Return the words that mean the same place type in all languages that have them."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found:
        votes[key_of(one.word)][one.place_type] += 3 if one.is_name else 1
    return [one for one in found if len(votes[key_of(one.word)]) == 1]


def _contradicts(one: ChosenWord, lexicon: Lexicon) -> bool:
    """Return whether the lexicon gives a word another type, or knows the word without it."""
    told = next(iter(lexicon.classify(one.word)), None)
    if told == one.place_type:
        return " " in one.word or bool(_UNSPACED.search(one.word))
    return told is not None


def _without_phrases(found: list[ChosenWord]) -> list[ChosenWord]:
    """Return the words without wordy ones and without second spellings of a word."""
    spelt: dict[tuple[str, str, str], ChosenWord] = {}
    for one in sorted(found, key=lambda one: one.word.isascii()):
        spelt.setdefault((one.place_type, one.language, key_of(one.word)), one)
    kept = set(spelt.values())
    return [one for one in found if one in kept and not _is_wordy(one, spelt)]


def _is_wordy(one: ChosenWord, spelt: Collection[tuple[str, str, str]]) -> bool:
    """Return whether a word is a hint of several words, or contains another word of its type."""
    key = key_of(one.word)
    if _UNSPACED.search(one.word):
        parts = {key[i:j] for i in range(len(key)) for j in range(i + 2, len(key) + 1)} - {key}
    else:
        parts = {key_of(token) for token in one.word.split()} - {key}
        if parts and not one.is_name:
            return True
    return any((one.place_type, one.language, part) in spelt for part in parts)


if __name__ == "__main__":
    main()
