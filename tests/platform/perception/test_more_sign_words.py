"""Signs in languages whose words come from OpenStreetMap's presets, beside those chosen by hand."""

import pytest

from virl.errors import BadInput
from virl.platform.city.place_types import MoreWords
from virl.platform.perception.lexicons.sign_lexicon import Lexicon, LexiconSettings, open_lexicon
from virl.platform.perception.models import Models
from virl.settings.model import parse_settings
from virl.towns.life.shops import move_in
from virl.towns.plan.layout import lay_out

OWN = "kind: sign-lexicon\nname_weight: 0.9\nhint_weight: 0.5\nmore_weight: 0.5\ntypes:\n"
VIRLTON = 1  # the seed of the town


def made(own: str, more: str) -> Lexicon:
    settings = parse_settings(OWN + own, LexiconSettings, source="own.yaml")
    return Lexicon(settings, parse_settings(more, MoreWords, source="more.yaml"))


@pytest.mark.parametrize(
    ("language", "text", "place_type"),
    [
        ("fi", "Apteekki", "pharmacy"),
        ("fi", "Ravintola", "restaurant"),
        ("fi", "Parturi-kampaamo Aino", "hair_care"),
        ("sv", "Universitetsapoteket", "pharmacy"),
        ("ru", "Аптека", "pharmacy"),
        ("zh", "大酒店", "lodging"),
        ("zh", "超级市场", "supermarket"),
        ("de", "Bäckerei", "bakery"),
        ("de", "Stadtbäckerei", "bakery"),
        ("de", "Rathausapotheke", "pharmacy"),
        ("cs", "Lékárna U Anděla", "pharmacy"),
        ("pl", "Restauracja Pod Lipą", "restaurant"),
        ("pl", "Kwiaciarnia", "florist"),
        ("nl", "Bakkerij Jansen", "bakery"),
        ("hu", "Gyógyszertár", "pharmacy"),
        ("hr", "Knjižara", "book_store"),
        ("uk", "Перукарня", "hair_care"),
        ("ar", "صيدلية", "pharmacy"),
        ("he", "מאפייה", "bakery"),
        ("fa", "رستوران", "restaurant"),
        ("el", "Εστιατόριο", "restaurant"),
        ("tr", "Eczane", "pharmacy"),
        ("ja", "図書館", "library"),
        ("ko", "서점", "book_store"),
        ("vi", "Nhà hàng", "restaurant"),
        ("ca", "Farmàcia", "pharmacy"),
        ("id", "Toko Roti", "bakery"),
        ("nb", "Sykehus", "hospital"),
    ],
)
def test_signs_of_many_towns_are_told(lexicon, language, text, place_type):
    assert next(iter(lexicon.classify(text)), None) == place_type, language


@pytest.mark.parametrize("text", ["Shop", "Store", "Corner", "Post", "Teatteri", "Night & Day Shop"])
def test_words_of_one_language_do_not_type_those_of_another(lexicon, text):
    assert lexicon.classify(text) == {}


@pytest.mark.slow
def test_signs_of_virlton_are_typed_no_worse(lexicon, lexicon_settings):
    shops = move_in(lay_out(VIRLTON), VIRLTON)

    def right_and_answered(one: Lexicon) -> tuple[int, int]:
        answers = [(shop, next(iter(one.classify(shop.place.name)), None)) for shop in shops]
        return (
            sum(given in shop.place.types for shop, given in answers),
            sum(given is not None for _, given in answers),
        )

    right, answered = right_and_answered(lexicon)
    before, answered_before = right_and_answered(Lexicon(lexicon_settings))
    assert right >= before
    assert right / answered >= before / answered_before
    assert right / answered > 0.97


def test_what_the_lexicon_says_itself_counts_alone():
    told = made(
        "  bar: {names: {en: bodega}}\n  bakery: {names: {en: bakery}}\n",
        "types: {bakery: {names: {xx: bodega, yy: pagar}}, zoo: {names: {xx: zoo}}}",
    )
    assert told.classify("Bodega") == {"bar": pytest.approx(0.9)}
    assert told.classify("Pagar") == {"bakery": pytest.approx(0.45)}
    assert told.classify("Zoo") == {}


def test_words_count_as_the_end_of_longer_ones_in_languages_that_compound():
    more = "compounding: [fi]\ntypes: {bar: {names: {fi: kapakka, pl: tawerna}, hints: {fi: olutta}}}"
    told = made("  bar: {names: {en: bar}}\n", more)
    assert told.classify("Kulmakapakka")
    assert not told.classify("Kapakkaruoka")
    assert not told.classify("Supertawerna")
    assert not told.classify("Paljonolutta")


def test_slips_are_forgiven_in_words_chosen_by_hand_alone():
    told = made("  bar: {names: {en: cocktails}}\n", "types: {bar: {names: {fi: olutravintola}}}")
    assert told.classify("Cocktaiis")
    assert told.classify("Olutravintola")
    assert not told.classify("Olutravimtola")


def test_an_unknown_file_of_more_words_is_named():
    settings = parse_settings(
        OWN.replace("types:", "more: no-words\ntypes:") + "  bar: {names: {en: bar}}\n",
        LexiconSettings,
        source="own.yaml",
    )
    with pytest.raises(BadInput, match="no-words"):
        open_lexicon(settings, Models())
