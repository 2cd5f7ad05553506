import pytest

from virl.errors import BadInput, MindFailed
from virl.mind.base import Prompt
from virl.mind.lexicon import load_lexicon
from virl.mind.prompt import load_prompt
from virl.mind.rules import RuleMind
from virl.mind.wishes import opinions, vote, wishes
from virl.platform.navigators.intention.rules import RoadChoice
from virl.routines.explore.rules import PlaceDecision, PlaceSummary, PlaceType

LEXICON = load_lexicon()
TYPES = [
    *("bank", "restaurant", "supermarket", "bakery", "cafe", "pharmacy", "hospital", "spa"),
    *("convenience_store", "school", "library", "park", "lodging", "laundry", "movie_theater"),
    *("book_store", "clothing_store", "jewelry_store", "gym", "bar"),
]
LUNCH = "He is hungry and looks for an authentic local lunch. He cannot eat spicy food."


@pytest.fixture
def mind():
    return RuleMind()


def place_type(mind, intention, offered=TYPES):
    prompt = load_prompt("explore/place-type", PlaceType)
    return mind.ask(prompt, intention=intention, place_types=offered).place_type


def road(mind, descriptions, place_type="restaurant"):
    roads = [{"index": index, "description": text} for index, text in enumerate(descriptions)]
    prompt = load_prompt("movement/intention-road", RoadChoice)
    return mind.ask(prompt, intention=LUNCH, place_type=place_type, roads=roads)


def summary(mind, *texts, name="Somewhere"):
    reviews = [{"rating": 4.0, "text": text} for text in texts]
    return mind.ask(
        load_prompt("explore/summary", PlaceSummary), name=name, rating=4.1, reviews=reviews
    ).summary


def decision(mind, *said, intention=LUNCH, background="A student.", reviewed=True, **facts):
    place = {"name": "Somewhere", "types": ["restaurant"], "rating": 4.1, "open_now": True} | facts
    prompt = load_prompt("explore/decision", PlaceDecision)
    return mind.ask(
        prompt,
        name="Hiro",
        background=background,
        intention=intention,
        place=place,
        summary=summary(mind, *said) if said else "",
        reviewed=reviewed,
        rule_inputs={"reviews": [{"rating": 4.0, "text": text} for text in said]},
    )


@pytest.mark.parametrize(
    ("intention", "wanted"),
    [
        (LUNCH, "restaurant"),
        ("She feels like a bowl of noodles.", "restaurant"),
        ("A strong coffee would be welcome.", "cafe"),
        ("He wants to buy a novel for the train.", "book_store"),
        ("She has to withdraw some money.", "bank"),
        ("They need groceries for the week.", "supermarket"),
        ("Fresh bread and perhaps a croissant.", "bakery"),
        ("She needs painkillers.", "pharmacy"),
        ("He fell and broke his arm.", "hospital"),
        ("A massage after this long week.", "spa"),
        ("Just a snack and new batteries.", "convenience_store"),
        ("She wants to sign up for a class.", "school"),
        ("He would like to borrow a book.", "library"),
        ("A picnic on the grass.", "park"),
        ("They need a bed for the night.", "lodging"),
        ("He must wash his dirty clothes.", "laundry"),
        ("She wants to see a film.", "movie_theater"),
        ("His jacket is torn, he needs a new one.", "clothing_store"),
        ("A necklace for her birthday.", "jewelry_store"),
        ("She wants to work out.", "gym"),
        ("A cold beer!", "bar"),
    ],
)
def test_the_place_type_comes_from_the_words_of_the_intention(mind, intention, wanted):
    assert place_type(mind, intention) == wanted


def test_every_localization_type_can_be_named(mind):
    assert set(TYPES) <= LEXICON.place_types.keys()
    for name in TYPES:
        assert place_type(mind, f"I look for a {name.replace('_', ' ')}.") == name


def test_only_an_offered_place_type_is_picked(mind):
    assert place_type(mind, "I want lunch.", ["bank", "cafe"]) == "cafe"
    assert place_type(mind, "Where is the art gallery?", ["bank", "art_gallery"]) == "art_gallery"


def test_an_intention_without_a_known_word_is_no_guess(mind):
    with pytest.raises(MindFailed, match="name it in plain English"):
        place_type(mind, "Something wonderful.")


def test_the_road_with_a_sign_of_the_wanted_sort_wins(mind):
    choice = road(mind, ["Busy street with shops and people.", "Trees; a sign reads Golden Noodle House."])
    assert choice.index == 1
    assert "noodle" in choice.reason


def test_more_signs_of_the_wanted_sort_are_better():
    one = "1 sign: 'Ito & Co' (restaurant)"
    two = "2 signs: 'Ito & Co' (restaurant), 'Sol' (restaurant)"
    assert road(RuleMind(), [one, "no signs that can be read", two]).index == 2


def test_shops_are_better_than_bare_walls(mind):
    assert road(mind, ["A blank wall and garages.", "Several shops with awnings.", "Trees."]).index == 1


def test_equal_roads_are_settled_by_their_number(mind):
    choice = road(mind, ["trees", "trees", "trees"])
    assert choice.index == 0
    assert "look the same" in choice.reason


@pytest.mark.parametrize(
    ("text", "spicy"),
    [
        ("Very spicy.", True),
        ("My mouth was on fire.", True),
        ("I drank three glasses of water.", True),
        ("It isn't mild at all.", True),
        ("The kids couldn't eat it.", True),
        ("Bring a handkerchief, your nose will run.", True),
        ("Not only spicy but cheap.", True),
        ("Not spicy at all.", False),
        ("It wasn't too hot for my mother.", False),
        ("Could use more heat.", False),
        ("I wish it had a bit more kick.", False),
        ("Mild and gentle on the stomach.", False),
        ("Our kids ate everything.", False),
        ("Nothing on the menu burns.", False),
        ("The soup was served piping hot.", None),
        ("Friendly staff, and the hot chocolate is lovely.", None),
    ],
)
def test_opinions_on_heat(text, spicy):
    found = {mention.holds for mention in opinions(text, LEXICON) if mention.attribute == "spicy"}
    assert found == (set() if spicy is None else {spicy})


def test_a_negation_ends_at_a_but():
    found = {mention.attribute: mention.holds for mention in opinions("Not cheap but quiet.", LEXICON)}
    assert found == {"cheap": False, "quiet": True}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (LUNCH, {"authentic": True, "spicy": False}),
        ("She hates noisy places and is short of money.", {"quiet": True, "cheap": True}),
        ("He loves spicy dishes, not too expensive.", {"spicy": True, "cheap": True}),
        ("A vegan in a hurry.", {"vegetarian": True, "quick": True}),
        ("He avoids tourist traps.", {"authentic": True}),
        ("He walks through the town.", {}),
    ],
)
def test_wishes(text, wanted):
    assert {name: mention.holds for name, mention in wishes(text, LEXICON).items()} == wanted


def test_each_review_has_one_voice():
    verdict = vote(["Spicy, spicy, spicy!", "Rather mild.", "Not spicy.", "Nice."], LEXICON)["spicy"]
    assert (verdict.yes, verdict.no, verdict.holds) == (1, 2, False)


def test_a_summary_counts_the_voices(mind):
    said = summary(mind, "Mild.", "Not hot at all, and cheap.", "Way too spicy.")
    assert "Not spicy (2 of 3)." in said
    assert "Cheap (1 of 1)." in said


def test_a_summary_keeps_to_80_words(mind):
    everything = "Spicy, cheap, quiet, authentic, vegetarian, quick, clean and friendly."
    contrary = "Mild, pricey, loud, touristy, only meat, slow, dirty and rude."
    assert len(summary(mind, everything, contrary).split()) <= 80


def test_a_name_is_no_opinion(mind):
    assert "picy" not in summary(mind, "Nice.", name="Spicy Dragon")


@pytest.mark.parametrize(
    ("reviews", "action"),
    [
        (["Mild and honest food.", "Kids love it."], "enter"),
        (["My tongue is still burning.", "Fiery!"], "continue"),
        (["So spicy.", "Quite mild."], "continue"),
        (["Mild, but a tourist trap."], "continue"),
        (["Lovely people."], "enter"),
        ([], "continue"),
    ],
)
def test_reviews_decide(mind, reviews, action):
    assert decision(mind, *reviews).action == action


def test_opinions_beyond_the_80_words_of_a_summary_count(mind):
    much = [
        "Spicy, cheap, quiet, authentic, vegetarian, quick, clean and friendly. Not crowded.",
        "Mild, pricey, loud, touristy, only meat, slow, dirty and rude. Packed.",
        "Everything was fresh, and there is plenty of shade.",
    ]
    assert "shad" not in summary(mind, *much)
    wish = "She wants a shady place."
    assert "it is said to be shady" in decision(mind, *much, intention=wish).reason.lower()


def test_a_crowded_place_is_not_quiet(mind):
    assert {one.contrary for one in LEXICON.attributes.values()} <= {"", *LEXICON.attributes}
    wish = "She wants a quiet lunch."
    assert "it is noisy" in decision(mind, "Packed.", intention=wish).reason.lower()
    assert decision(mind, "Packed.", "Quiet, though.", intention=wish).action == "enter"


def test_what_is_for_rules_is_not_written_down(mind):
    decision(mind, "Mild.")
    _, exchange = mind.ledger.take_asked()
    assert exchange.inputs.keys() == load_prompt("explore/decision", PlaceDecision).inputs


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"open_now": False}, "It is closed now"),
        ({"closed_for_good": True}, "It has closed for good"),
        ({"types": ["bank", "atm"]}, "It is no restaurant but a bank"),
        ({"rating": 1.9}, "It is rated only 1.9 of 5"),
    ],
)
def test_plain_facts_speak_against_a_place(mind, facts, reason):
    answer = decision(mind, "Not spicy.", **facts)
    assert answer.action == "continue"
    assert answer.reason.startswith(reason)


def test_an_unreviewed_place_is_entered_only_without_wishes(mind):
    assert decision(mind).action == "continue"
    assert "nobody has written a review" in decision(mind).reason.lower()
    assert decision(mind, intention="He wants lunch.").action == "enter"


def test_where_no_place_can_have_reviews_it_is_entered_and_what_is_unknown_is_said(mind):
    answer = decision(mind, reviewed=False, rating=None)
    assert answer.action == "enter"
    assert "no reviews, so it is not known whether it is as wished" in answer.reason
    assert decision(mind, reviewed=False, rating=None, types=["bank"]).action == "continue"
    assert decision(mind, reviewed=False, rating=None, open_now=False).action == "continue"


def test_a_more_exact_type_counts(mind):
    assert decision(mind, "Not spicy.", types=["ramen_restaurant", "food"]).action == "enter"


def test_the_price_level_tells_what_no_review_does(mind):
    wish = "A cheap lunch."
    assert decision(mind, "Nice.", intention=wish, price_level=4).action == "continue"
    assert decision(mind, "Nice.", intention=wish, price_level=1).action == "enter"
    assert decision(mind, "Cheap.", intention=wish, price_level=4).action == "enter"


def test_a_dislike_in_the_background_counts_and_the_intention_overrules_it(mind):
    hates = "She hates noise."
    assert decision(mind, "Noisy.", intention="Lunch.", background=hates).action == "continue"
    assert decision(mind, "Noisy.", intention="Lunch somewhere lively.", background=hates).action == "enter"


def test_an_exchange_is_written_down_and_costs_nothing(mind):
    place_type(mind, "I want lunch.")
    [exchange] = mind.ledger.take_asked()
    assert (exchange.prompt, exchange.mind, exchange.usd) == ("explore/place-type", "rules", 0.0)
    assert exchange.reply == {"place_type": "restaurant"}
    assert mind.ledger.take_asked() == ()


def test_wrong_inputs_are_named(mind):
    with pytest.raises(BadInput, match="input place_types is missing"):
        mind.ask(load_prompt("explore/place-type", PlaceType), intention="lunch")
    with pytest.raises(BadInput, match=r"'movement/intention-road': input roads\.0\.index"):
        mind.ask(
            load_prompt("movement/intention-road", RoadChoice),
            intention="lunch",
            place_type="bar",
            roads=[{"description": "no index"}],
        )


def test_a_prompt_without_a_rule_is_named(mind):
    prompt = Prompt("no-such-prompt", frozenset(), PlaceType, "")
    with pytest.raises(MindFailed, match="no rule answers prompt 'no-such-prompt'"):
        mind.ask(prompt)


def test_unknown_hours_are_said_and_speak_against_nothing(mind):
    for reviewed, said in ((True, ["Not spicy at all."]), (False, [])):
        choice = decision(mind, *said, reviewed=reviewed, open_now=None)
        assert choice.action == "enter"
        assert "its opening hours are not known" in choice.reason
        assert "hours" not in decision(mind, *said, reviewed=reviewed, types=["park"], open_now=None).reason
        assert "hours" not in decision(mind, *said, reviewed=reviewed).reason
