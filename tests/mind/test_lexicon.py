import pytest
import yaml

from virl import resources
from virl.errors import BadInput
from virl.mind.lexicon import Lexicon, found_in, load_lexicon, matches_of, phrase_pattern, words_of
from virl.mind.wishes import kinds_wanted
from virl.settings.model import parse_settings


@pytest.mark.parametrize(
    ("phrase", "text", "matches"),
    [
        ("spic*", "a spicy soup", True),
        ("spic", "a spicy soup", False),
        ("hot", "a photo", False),
        ("glass* of water|milk", "two glasses of milk", True),
        ("need* … heat", "needs a bit more heat", True),
        ("need* … heat", "needs a very very very long heat", False),
        ("kid* … eat", "kids will not eat", False),
        ("café", "un café noir", True),
        ("won't", "we won't", True),
    ],
)
def test_phrases(phrase, text, matches):
    assert bool(phrase_pattern((phrase,)).search(text)) is matches


@pytest.mark.slow
def test_matches_are_those_of_the_pattern():
    lexicon = load_lexicon()
    groups = [*lexicon.place_types.values(), *lexicon.needs.values(), lexicon.not_meant, lexicon.longings]
    for attribute in lexicon.attributes.values():
        groups += [attribute.wanted, attribute.so, attribute.not_so, attribute.neutral]
    texts = [" ".join(said[:9]).replace("*", "s").replace("|", " ") for said in groups]
    for words in map(words_of, ["need a bit more heat", *texts[::5]]):
        for phrases in (*groups, ("… heat",), ("*ful smell",)):
            plain = [match.span() for match in phrase_pattern(phrases).finditer(words)]
            assert [match.span() for match in matches_of(phrases, words)] == plain


def test_a_wish_compiles_few_patterns():
    phrase_pattern.cache_clear()
    assert "cafe" in kinds_wanted("I would love a coffee.", ("cafe", "bank", "museum"), load_lexicon())
    assert phrase_pattern.cache_info().currsize < 30


def test_no_phrases_match_nothing():
    assert not found_in("anything at all", ())


def test_found_words_stand_once_in_their_order():
    assert found_in("Shops, a PARK and shops!", ("park", "shop*")) == ["shops", "park"]


def test_sentences_lose_marks_but_keep_commas():
    text = 'Not only hot, but cheap! It\N{RIGHT SINGLE QUOTATION MARK}s "kid-friendly"...'
    assert list(load_lexicon().sentences(text)) == ["hot , but cheap", "it's kid friendly"]


@pytest.mark.slow
def test_classes_are_spelt_out_and_an_unknown_one_is_named():
    path = resources.data_folder("platform/rules") / "lexicon.yaml"
    data = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert not any("<" in phrase for phrase in load_lexicon().attributes["spicy"].not_so)
    data["shop_life"] = ["<shoppes>"]
    with pytest.raises(BadInput, match="unknown class 'shoppes'"):
        parse_settings(yaml.safe_dump(data), Lexicon, source="lexicon.yaml")
