import pytest
from pydantic import ValidationError

from virl.errors import MindFailed
from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.routines.errands.rules import ErrandList, read_errands

PROMPT = load_prompt("errands/list", ErrandList)


def read(text: str) -> tuple[list[tuple[str, str]], bool]:
    told = RuleMind().ask(PROMPT, text=text)
    return [(errand.where, errand.what) for errand in told.errands], told.back_home


@pytest.mark.parametrize(
    ("text", "errands"),
    [
        ("98 King Lane, 12 Mill Lane and 3 Elm Walk", ["98 King Lane", "12 Mill Lane", "3 Elm Walk"]),
        ("- 12 Mill Lane\n- 3b Elm Walk\n- The Ladle Inn", ["12 Mill Lane", "3b Elm Walk", "Ladle Inn"]),
        ("Visit Riverside Library. Then see Moe's on Monday.", ["Riverside Library", "Moe's"]),
        ("Pick up pills from Oak Pharmacy, 44 Chapel Street.", ["44 Chapel Street"]),
        ("He has to get some cash, buy bread and collect his clothes from the laundry.",
         ["bank", "bakery", "laundry"]),
        ("On Friday I must drop keys at Anna's, 7 Harbor Street, then lunch at the House of Noodles.",
         ["7 Harbor Street", "House of Noodles"]),
        ("Pay at Kalevankatu 14 B, return a drill to Mannerheimintie 24 and sign a form at Simonkatu 12a.",
         ["Kalevankatu 14 B", "Mannerheimintie 24", "Simonkatu 12a"]),
        ("Kaivokatu 1\nVuorikatu 2\n3 Elm Street", ["Kaivokatu 1", "Vuorikatu 2", "3 Elm Street"]),
        ("From rue de la Paix 12 to Via Roma 5/7, at улица Арбат 12 by May 5, then Cafe 12 Oak Street",
         ["rue de la Paix 12", "Via Roma 5/7", "улица Арбат 12", "12 Oak Street"]),
        ("Look at the room at John Stenbergin ranta 2 C 14.", ["John Stenbergin ranta 2 C 14"]),
        ("Pens at 1-2-3 Ginza, tea at 銀座1丁目2-3, a book at 1 Chome-2-3 Ginza; go to Hauptstraße 12a.",
         ["1-2-3 Ginza", "銀座1丁目2-3", "1 Chome-2-3 Ginza", "Hauptstraße 12a"]),
        ("Sign a form at In der Au 3a. In the evening collect a parcel from An der Brücke 12.",
         ["In der Au 3a", "An der Brücke 12"]),
        ("Meet Anna at 5, read in Riverside Library for 2 hours.", ["Riverside Library"]),
        ("Return two books to the library, in whichever order suits you best.", ["library"]),
        ("He works at the bank. Buy bread.", ["bakery"]),
        ("I live above a pharmacy and need stamps.", ["post office"]),
        ("She went to the gym yesterday, but today I need bread.", ["bakery"]),
        ("He met his wife at Station Library. Buy bread.", ["bakery"]),
        ("I usually buy bread at the bakery. Get cash.", ["bank"]),
        ("My sister is a baker at the bakery on the corner. Get cash.", ["bank"]),
        ("The baker knows me. Get cash.", ["bank"]),
        ("I was told to buy bread. We were out of aspirin.", ["bakery", "pharmacy"]),
        ("I have to go to the bank, and my wife needs bread.", ["bank", "bakery"]),
        ("He works at the library for an hour, then buys bread.", ["library", "bakery"]),
    ],
)  # fmt: skip
def test_places_are_read_in_the_order_of_the_text(text: str, errands: list[str]) -> None:
    assert [where for where, _ in read(text)[0]] == errands


def test_what_is_to_be_done_stands_with_its_place() -> None:
    errands, back = read(
        "Return a book at Riverside Library and buy bread at 12 Mill Lane, then on to Fern Park for a run."
    )
    assert errands == [
        ("Riverside Library", "Return a book"),
        ("12 Mill Lane", "buy bread"),
        ("Fern Park", "for a run"),
    ]
    assert not back


@pytest.mark.parametrize(
    "ending", ["and be back home by noon.", "Then go home.", "Return to where I started.", "A round trip."]
)
def test_going_home_is_no_errand(ending: str) -> None:
    errands, back = read(f"Post a letter at 12 Mill Lane. {ending[0].upper()}{ending[1:]}")
    assert [where for where, _ in errands] == ["12 Mill Lane"]
    assert back


def test_a_text_without_a_place_is_not_guessed_at() -> None:
    with pytest.raises(MindFailed, match="list `stops`"):
        read("Nothing in particular.")


def test_an_address_that_nobody_gave_is_refused() -> None:
    data = {"errands": [{"where": "14 Mill Lane", "what": ""}], "back_home": False}
    with pytest.raises(ValidationError, match="does not say 14"):
        ErrandList.model_validate(data, context={"text": "Buy bread at 12 Mill Lane."})
    assert ErrandList.model_validate(data, context={"text": "Go to 14 Mill Lane."}).errands


def test_hundreds_of_words_of_order_are_not_each_looked_at_with_all_of_the_text() -> None:
    assert "first" not in read_errands("First buy bread. " + "first " * 1_600, load_lexicon())
