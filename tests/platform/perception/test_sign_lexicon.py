import pytest

from virl.errors import BadInput
from virl.platform.perception.lexicons.sign_lexicon import Lexicon, LexiconSettings
from virl.settings.model import parse_settings

LOCALIZATION_TYPES = [
    *(
        "bank",
        "restaurant",
        "supermarket",
        "bakery",
        "cafe",
        "pharmacy",
        "hospital",
        "spa",
        "convenience_store",
    ),
    *("school", "library", "park", "lodging", "laundry", "movie_theater", "book_store", "clothing_store"),
    *("jewelry_store", "gym", "bar"),
]
LANGUAGES = {"en", "it", "es", "fr", "de", "pt", "vi", "tr", "zh", "ja", "ko", "el", "ru", "fi", "sv"}


@pytest.mark.parametrize("place_type", LOCALIZATION_TYPES)
def test_localization_types_are_named_in_all_languages(lexicon_settings, place_type):
    assert set(lexicon_settings.words[place_type].names) >= LANGUAGES


def test_there_are_thirty_further_types_in_six_languages_or_more(lexicon_settings):
    further = {
        name: words for name, words in lexicon_settings.words.items() if name not in LOCALIZATION_TYPES
    }
    assert len(further) >= 30
    assert all(len(words.names) >= 6 for words in further.values())


@pytest.mark.slow
def test_every_word_tells_of_its_own_type(lexicon, lexicon_settings):
    for place_type, words in lexicon_settings.words.items():
        for language, names in words.names.items():
            for name in names:
                assert place_type in lexicon.classify(name), (place_type, language, name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "place_type"),
    [
        ("Golden Noodle House", "restaurant"),
        ("Trattoria da Gino", "restaurant"),
        ("FARMACIA CENTRALE", "pharmacy"),
        ("Boulangerie du Coin", "bakery"),
        ("Stadtbibliothek", "library"),
        ("Livraria Atlântica", "book_store"),
        ("Nhà thuốc Bình Minh", "pharmacy"),
        ("ALTIN KUYUMCUSU", "jewelry_store"),
        ("中国银行", "bank"),
        ("動物病院", "veterinary_care"),
        ("서울약국", "pharmacy"),
        ("ΦΑΡΜΑΚΕΙΟ", "pharmacy"),
        ("АПТЕКА 24", "pharmacy"),
    ],
)
def test_signs_in_many_languages_are_told(lexicon, text, place_type):
    assert next(iter(lexicon.classify(text))) == place_type


@pytest.mark.parametrize(
    ("text", "place_type"),
    [
        ("GOLDENNOODLEHOUSE", "restaurant"),  # lost spaces
        ("PHAR MACY", "pharmacy"),  # a space too many
        ("B00KST0RE", "book_store"),
        ("Chuck's Bakcry", "bakery"),
        ("LAUNDRCMAT", "laundry"),
        ("Pharrnacy", "pharmacy"),
        ("8ar Centrale", "bar"),
        ("NHATHUOC MINH", "pharmacy"),  # no accents
        ("A\u03a0TEKA", "pharmacy"),  # Cyrillic letters given as Latin and Greek ones
    ],
)
def test_slips_of_the_reader_are_forgiven(lexicon, text, place_type):
    assert next(iter(lexicon.classify(text))) == place_type


@pytest.mark.parametrize(
    ("text", "not_type"),
    [
        ("Barber Shop", "bar"),
        ("Parking", "park"),
        ("Boots", "book_store"),
        ("Wine Bar Lounge", "liquor_store"),
        ("Dental Clinic", "doctor"),
    ],
)
def test_a_word_inside_another_says_nothing(lexicon, text, not_type):
    assert not_type not in lexicon.classify(text)


@pytest.mark.parametrize("text", ["", "Smith & Sons", "Casa Lucia", "24", "!!", "ROSENBERG"])
def test_other_words_tell_of_no_type(lexicon, text):
    assert lexicon.classify(text) == {}


def test_the_word_for_what_it_is_outweighs_the_street_it_is_in(lexicon):
    assert next(iter(lexicon.classify("Bank Street Cafe"))) == "cafe"
    assert next(iter(lexicon.classify("Park Hotel"))) == "lodging"


def test_scores_order_exact_names_before_slips_before_nothing(lexicon):
    exact, slip = lexicon.classify("Laundromat")["laundry"], lexicon.classify("Laundrcmat")["laundry"]
    hint = lexicon.classify("Sourdough")["bakery"]
    assert 1 > exact > slip > hint > 0
    assert lexicon.classify("Bakery sourdough bread")["bakery"] > lexicon.classify("Bakery")["bakery"]


def test_a_broken_lexicon_is_named_with_its_line():
    text = "kind: sign-lexicon\nname_weight: 0.9\nhint_weight: 0.6\ntypes:\n  bank: {name: {en: bank}}\n"
    with pytest.raises(BadInput, match="line 5"):
        parse_settings(text, LexiconSettings, source="lexicon.yaml")


def test_a_small_lexicon_knows_its_own_words_alone():
    text = "kind: sign-lexicon\nname_weight: 0.9\nhint_weight: 0.5\ntypes:\n  zoo:\n    names: {en: zoo}\n"
    small = Lexicon(parse_settings(text, LexiconSettings, source="small.yaml"))
    assert small.types == ("zoo",)
    assert small.classify("The Zoo") == {"zoo": pytest.approx(0.9)}
    assert small.classify("Bakery") == {}
