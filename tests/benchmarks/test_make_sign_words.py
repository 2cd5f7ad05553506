"""Words of signs from the presets of OpenStreetMap's editors, on a small package."""

import json
from pathlib import Path

import pytest

from benchmarks.perf.make_sign_words import COMPOUNDING, LANGUAGES, ChosenWord, as_yaml, read_words
from virl.errors import BadInput
from virl.platform.city.place_types import MoreWords
from virl.platform.perception.lexicons.sign_lexicon import Lexicon, LexiconSettings
from virl.settings.model import parse_settings

OWN = """\
kind: sign-lexicon
name_weight: 0.9
hint_weight: 0.5
types:
  bakery: {names: {en: bakery}}
  pharmacy: {names: {en: pharmacy}}
  bar: {names: {en: taproom}}
"""
PRESETS = {
    "shop/bakery": {"shop": "bakery"},
    "amenity/pharmacy": {"amenity": "pharmacy"},
    "amenity/bar": {"amenity": "bar"},
    "shop/toys": {"shop": "toys"},
    "shop": {"shop": "*"},
}
WORDS = {
    "en": {"shop": {"name": "Store"}, "shop/toys": {"name": "Toy Store"}},
    "fi": {
        "shop/bakery": {"name": "Leipomo (myymälä)", "terms": "leipomotuote,kahvila,pulla,store"},
        "amenity/pharmacy": {"name": "Apteekki", "terms": "lääke,apotek,pillerit"},
        "shop/toys": {"name": "Lelukauppa", "terms": "pulla"},
        "amenity/bar": {"name": "Bar", "aliases": "Baari\nOlutbaari", "terms": "taproom bakery"},
    },
    "sv": {"amenity/pharmacy": {"name": "Apotek / Läkemedel"}, "shop/bakery": {"name": "Sommarbod"}},
    "da": {"amenity/bar": {"name": "Sommarbod"}},
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "dist" / "translations"
    folder.mkdir(parents=True)
    presets = {name: {"tags": tags} for name, tags in PRESETS.items()}
    (tmp_path / "dist" / "presets.json").write_text(json.dumps(presets))
    for locale in ["en", *(each for locales in LANGUAGES.values() for each in locales)]:
        said = {locale: {"presets": {"presets": WORDS.get(locale, {})}}}
        (folder / f"{locale}.json").write_text(json.dumps(said))
    return tmp_path


@pytest.fixture
def found(package: Path) -> dict[tuple[str, str], tuple[str, bool]]:
    own = Lexicon(parse_settings(OWN, LexiconSettings, source="own.yaml"))
    return {(one.language, one.word): (one.place_type, one.is_name) for one in read_words(package, own)}


def test_names_are_cleaned_and_typed_by_the_tags(found):
    assert found["fi", "leipomo"] == ("bakery", True)
    assert found["fi", "apteekki"] == ("pharmacy", True)
    assert found["fi", "baari"] == ("bar", True)
    assert found["sv", "läkemedel"] == ("pharmacy", True)


def test_terms_are_names_if_they_share_a_stem_or_are_names_elsewhere_else_hints(found):
    assert found["fi", "leipomotuote"] == ("bakery", True)
    assert found["fi", "apotek"] == ("pharmacy", True)
    assert found["fi", "pillerit"] == ("pharmacy", False)


@pytest.mark.parametrize(
    ("language", "word"),
    [
        ("fi", "pulla"),  # also a term of toys
        ("fi", "bar"),  # too short
        ("fi", "store"),  # English for something else
        ("fi", "taproom bakery"),  # a hint of two words
        ("fi", "lelukauppa"),  # of no type
        ("sv", "sommarbod"),  # another type in Danish
        ("da", "sommarbod"),
    ],
)
def test_what_is_in_doubt_is_left_out(found, language, word):
    assert (language, word) not in found


def test_a_folder_without_the_package_is_named(tmp_path):
    own = Lexicon(parse_settings(OWN, LexiconSettings, source="own.yaml"))
    with pytest.raises(BadInput, match="id-tagging-schema"):
        read_words(tmp_path, own)


def test_the_file_holds_source_licence_and_words():
    words = [
        ChosenWord("bakery", "fi", "leipomo", is_name=True),
        ChosenWord("bakery", "nb", "brød", is_name=False),
    ]
    text = as_yaml(words, COMPOUNDING, "6.19.2", "ISC License\n\nPermission")
    assert "# ISC License\n#\n# Permission\n" in text
    assert "6.19.2" in text
    read = parse_settings(text, MoreWords, source="words.yaml")
    assert read.compounding == COMPOUNDING
    assert read.types["bakery"].names == {"fi": ("leipomo",)}
    assert read.types["bakery"].hints == {"nb": ("brød",)}
