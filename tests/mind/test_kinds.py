"""Which kind of place a wish in everyday words is about."""

import pytest

from virl.errors import MindFailed
from virl.mind.lexicon import load_lexicon
from virl.mind.wishes import kinds_wanted
from virl.routines.explore.rules import TypeQuestion, choose_place_type

LEXICON = load_lexicon()
KINDS = tuple(LEXICON.needs)
WISHES = {
    "restaurant": ("I could murder a curry.", "My stomach's been rumbling since noon.", "I want Chinese."),
    "cafe": ("I'd kill for a cuppa.", "He requires a caffeine boost."),
    "bar": ("The lads are going out on the lash.", "He'd like to sample the local brews."),
    "bakery": ("Mum wants a baguette for supper.", "Something sweet and flaky, please."),
    "supermarket": ("The cupboards are bare.", "She needs food for the week: rice, onions and oil."),
    "pharmacy": ("The doc gave me a script that needs filling.", "Alva's throat is sore."),
    "book_store": ("I've nothing to read on the flight.", "He wants to order a book."),
    "clothing_store": ("My jeans have split.", "I have nothing decent to put on."),
    "gym": ("I want to pump some iron.", "Leg day, bro.", "A place with treadmills, please."),
    "spa": ("My neck is all knots and needs kneading.", "A Thai massage is what I need."),
    "park": ("She wants to feed the ducks.", "Nuria wants to take her dog for a walk."),
    "library": ("My books are overdue.", "I need somewhere silent to prepare for my bar exam."),
    "laundry": ("Need to get these trousers pressed.", "My bed sheets are dirty."),
    "movie_theater": ("Let's go see that new horror flick.", "A thriller and popcorn, please."),
    "lodging": ("Somewhere to lay my head tonight.", "Any B&B that has a vacancy?"),
    "convenience_store": ("I want to buy a lottery ticket.", "A can of cola and a chocolate bar."),
    "bank": ("I have a cheque to pay in.",),
    "hair_care": ("My fringe is in my eyes.",),
    "dentist": ("I chipped a tooth on a nut.",),
    "veterinary_care": ("My cat is limping.", "My rabbit won't eat."),
    "locksmith": ("I'm locked out of my flat.",),
    "gas_station": ("We're running on fumes.",),
    "parking": ("Where can I leave my car?",),
    "post_office": ("I want to send a parcel to my sister.",),
}


@pytest.mark.parametrize("kind", WISHES)
def test_everyday_wishes_speak_for_a_kind(kind: str) -> None:
    asked = [TypeQuestion(intention=wish, place_types=KINDS) for wish in WISHES[kind]]
    assert [choose_place_type(one, LEXICON).place_type for one in asked] == [kind] * len(asked)


@pytest.mark.parametrize(
    ("wish", "kind"),
    [
        ("No bar, please, but a coffee.", "cafe"),
        ("I would like tea rather than a beer.", "cafe"),
        ("She has an hour before the dentist and would like a coffee.", "cafe"),
        ("A bar of soap from a pharmacy.", "pharmacy"),
    ],
)
def test_what_is_refused_or_not_meant_does_not_count(wish: str, kind: str) -> None:
    assert kinds_wanted(wish, KINDS, LEXICON)[0] == kind


def test_words_set_aside_do_not_count() -> None:
    asked = TypeQuestion(intention="He has little money.", place_types=KINDS)
    assert choose_place_type(asked, LEXICON).place_type == "bank"
    with pytest.raises(MindFailed, match="no place type"):
        choose_place_type(asked, LEXICON, ("little money",))


def test_every_kind_with_needs_can_be_named() -> None:
    for kind in KINDS:
        assert kinds_wanted(f"I look for a {kind.replace('_', ' ')}.", (), LEXICON)[:1] == [kind]
