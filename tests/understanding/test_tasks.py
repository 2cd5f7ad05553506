"""The tasks in words of tasks.yaml: none ends with a success of what was not understood."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from virl.agent.assembly import check_mind, understand_wish
from virl.agent.character import Character
from virl.agent.character_file import LoadedCharacter, find_character, load_character
from virl.api.running import run
from virl.errors import BadInput
from virl.journal.records import Result
from virl.mind.lexicon import words_of
from virl.mind.rules import RuleMind
from virl.settings.model import check_settings

TASKS: list[dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "tasks.yaml").read_text(encoding="utf-8")
)
BY_ID = {task["id"]: task for task in TASKS}
CHECKED = {"t09", "t55", "t56", "t63"}
"""Tasks whose narrowing words are really looked at; the other ones of `refuse_or_check` are refused."""
FILE = Path("task.yaml")


def character_of(task: dict[str, Any]) -> tuple[Path, Character]:
    source = find_character(task["agent"])
    character = load_character(source)
    data = character.model_dump()
    section, _, field = task["field"].rpartition(".")
    (data[section] if section else data)[field] = task["text"]
    return source, check_settings(data, type(character), source=task["id"])


def refusal(task: dict[str, Any]) -> str:
    """What the check says that `virl check` and `virl run` both make; empty if the run goes on."""
    try:
        check_mind(LoadedCharacter(*character_of(task)), RuleMind())
    except BadInput as fault:
        return str(fault)
    return ""


def some_words(group: str) -> set[str]:
    return {word for word in words_of(group).split() if len(word) > 3}


@pytest.mark.parametrize("task", TASKS, ids=lambda task: str(task["id"]))
def test_what_narrows_is_refused_before_the_run_and_the_rest_goes_on(task: dict[str, Any]) -> None:
    told = refusal(task)
    assert "\n" not in told
    match task["must"]:
        case "refuse":
            assert told
        case "refuse_or_check":
            assert bool(told) != (task["id"] in CHECKED)
        case "name":
            assert not told
        case "succeed_or_not_found":
            pass  # the run may go on or be refused; what it says is looked at below


@pytest.mark.parametrize(
    "task", [task for task in TASKS if task["must"] == "name"], ids=lambda task: str(task["id"])
)
def test_manner_and_reasons_are_named(task: dict[str, Any]) -> None:
    understood = understand_wish(LoadedCharacter(*character_of(task)), RuleMind())
    assert understood is not None
    assert not understood.narrowing
    named = " ".join(words_of(one) for one in understood.asides)
    for group in task["groups"]["manner"]:
        used = some_words(group) <= some_words(" ".join(understood.understood))
        fillers = task["id"] in {
            "t18",
            "t22",
            "t23",
            "t39",
        }  # "The two of us", "I'd be grateful", "sort me out"
        assert used or fillers or any(word in named for word in some_words(group)), (group, understood)


@pytest.mark.parametrize("agent", ["hiro", "peng", "aria", "vivek", "diego", "ling", "local", "noor", "iris",
                                   "rx399", "imani", "mira", "otto", "june"])  # fmt: skip
def test_every_character_that_comes_with_virl_is_understood(agent: str) -> None:
    source = find_character(agent)
    understood = understand_wish(LoadedCharacter(source, load_character(source)), RuleMind(), check=True)
    assert understood is not None
    assert understood.understood


def lived(task_id: str, folder: Path, **fields: object) -> Result:
    task = BY_ID[task_id]
    return run(task["agent"], fields={task["field"]: task["text"]} | fields, out=folder).result


@pytest.mark.parametrize(
    ("agent", "field", "text"),
    [
        ("hiro", "intention", "He lives in a cheap flat and wants a cafe."),
        ("aria", "client.intention", "I live 5 minutes' walk from a bank. A cafe, please."),
        ("vivek", "client.intention", "She works at a school. A cafe near the flat, please."),
        ("diego", "client.intention", "She works at a museum. A cafe, please."),
        ("otto", "intention", "Otto works at a bank. He goes to the nearest cafe."),
    ],
)
def test_nothing_is_read_in_what_tells_of_a_life(agent: str, field: str, text: str) -> None:
    source, character = character_of({"id": text, "agent": agent, "field": field, "text": text})
    understood = understand_wish(LoadedCharacter(source, character), RuleMind(), check=True)
    assert understood
    assert len(understood.asides) == 1
    assert not {"bank", "school", "museum", "cheap", "walk"} & set(" ".join(understood.understood).split())


@pytest.mark.slow
def test_asides_stand_in_the_result_and_on_the_page(tmp_path: Path) -> None:
    result = lived("t12", tmp_path / "run", **{"errands.walk": False})
    assert result.words is not None
    assert result.words.not_understood == ("Without waking the neighbours", "with a spring in his step")
    assert json.loads((tmp_path / "run/result.json").read_text())["words"]["not_understood"]
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert "not understood: &#34;Without waking the neighbours&#34;" in page


@pytest.mark.slow
@pytest.mark.parametrize(("task_id", "order"), [("t09", [1, 2, 3]), ("t55", [1, 2])])
def test_an_order_that_is_told_is_kept(task_id: str, order: list[int], tmp_path: Path) -> None:
    result = lived(task_id, tmp_path / "run", **{"errands.walk": False})
    assert result.answer["numbers"] == order
    assert result.answer["succeeded"]


@pytest.mark.slow
def test_a_deadline_that_is_missed_is_no_success(tmp_path: Path) -> None:
    result = lived("t55", tmp_path / "run", clock="mon 09:50", **{"errands.walk": False})
    assert result.answer["succeeded"] is False
    assert "Too late: it ends at 10:06, and had to by 10:00." in result.reason


@pytest.mark.slow
def test_different_places_of_a_kind_are_visited(tmp_path: Path) -> None:
    result = lived("t56", tmp_path / "run", **{"errands.walk": False})
    order = result.answer["order"]
    assert isinstance(order, list)
    assert len(set(order)) == len(order) == 2
    stops = {"stops": ["pharmacy"] * 3, "walk": False}
    three = run("peng", fields={"errands": stops}, out=tmp_path / "three").result.answer["order"]
    assert isinstance(three, list)
    assert len(set(three)) == 3


def test_a_language_that_is_not_english_is_refused() -> None:
    task = BY_ID["t01"] | {"text": "Uwe hat Hunger und sucht ein Restaurant. Er kann nichts Scharfes essen."}
    assert "English" in refusal(task)
    task["text"] = "Uwe sucht etwas zu essen und einen neuen Hut, den er nicht mehr hat."
    assert refusal(task)


@pytest.mark.parametrize(
    ("agent", "field", "text"),
    [
        ("hiro", "intention", "She looks for a restaurant with a garden where dogs are welcome."),
        ("hiro", "intention", "A café overlooking the river."),
        ("hiro", "intention", "Because he is allergic to nuts, he wants a bakery."),
        ("hiro", "intention", "Hiro wants lunch, but nothing Italian."),
        ("hiro", "intention", "A Thai restaurant."),
        ("hiro", "intention", "A bakery and a pharmacy."),
        ("hiro", "intention", "He wants a coffee. It must be fair trade."),
        ("hiro", "intention", "Only cafes with wifi."),
        ("hiro", "intention", "A restaurant rated at least 4.5."),
        ("otto", "intention", "Otto goes to the nearest bank and then to the post office."),
        ("otto", "intention", "Otto counts the trees along the way to the bank."),
        (
            "otto",
            "intention",
            "Otto needs a bank that is open now. He goes there and reports what is in the way.",
        ),
        ("otto", "intention", "Otto finds a pharmacy but does not go there."),
        ("aria", "client.intention", "Lunch for under 10 dollars."),
        ("vivek", "client.intention", "A flat with a garage and parquet floors."),
        ("diego", "client.intention", "She wants to see a museum and be back by six."),
        ("peng", "errands.text", "Buy bread at every bakery."),
        ("peng", "errands.text", "Buy stamps and milk, but only if it is cheap."),
        ("local", "directions.to", "the library behind the church"),
        ("noor", "preview.to", "a bakery without steps"),
        ("hiro", "intention", "the cheapest restaurant"),
        ("hiro", "intention", "pizza, not sushi"),
        ("hiro", "intention", "A restaurant, NOT spicy, NOT expensive, NOT Italian"),
        ("hiro", "intention", "He walks to a cafe and back."),
        ("aria", "client.intention", "the best pizza in town"),
        ("aria", "client.intention", "the closest bar"),
        ("aria", "client.intention", "A cafe, but not the one at the church."),
        ("otto", "intention", "Otto goes to a bank and back."),
        ("otto", "intention", "Otto goes to the best rated cafe."),
        ("mira", "intention", "Mira reads the signs along the street."),
        ("peng", "errands.text", "Buy a pizza and a newspaper."),
        ("peng", "errands.text", "Buy bread twice."),
        ("vivek", "client.intention", "the cheapest flat with two bedrooms"),
        ("vivek", "client.intention", "A flat for at most 1.500 dollars."),
        ("diego", "client.intention", "sushi for lunch and a museum"),
        ("iris", "search.goal", "a pizza"),
        ("rx399", "intention", "Count the trash bins that are full."),
        ("local", "directions.to", "meadow street bakery"),
        ("hiro", "intention", "A pub, anything except one with a TV."),
        ("hiro", "intention", "A new restaurant."),
        ("hiro", "intention", "Every restaurant in town, one by one."),
        ("hiro", "intention", "All bakeries."),
        ("aria", "client.intention", "A restaurant with vegan cake."),
        ("aria", "client.intention", "A cafe at least 500 metres away."),
        ("mira", "intention", "Read only the red signs."),
        ("june", "intention", "Find a restaurant that is not cheap."),
        ("peng", "errands.text", "Buy bread on the way back."),
        ("peng", "errands.text", "Buy at least three newspapers."),
        ("peng", "errands.text", "Buy bread, but post a letter first."),
        ("peng", "errands.text", "Finally go to the bank. Buy bread."),
        ("peng", "errands.text", "Get cash, then buy bread, and return to the bank."),
        ("peng", "errands.text", "Collect a parcel either at 137 Union Street or at 91 Station Street."),
        ("peng", "errands.text", "Buy bread; the gym can wait."),
        ("peng", "errands.text", "Because the bank closes at ten, get cash."),
        ("otto", "intention", "Otto was asked to be back by noon. He goes to the nearest bank."),
        ("hiro", "intention", "A restaurant! With a garden!"),
        ("vivek", "client.intention", "A flat near a cheap supermarket."),
        ("vivek", "client.intention", "A flat near a big park."),
        ("vivek", "client.intention", "A flat within ten minutes' walk of a school."),
        ("imani", "intention", "How the trash bins are spread over the northern half of the town."),
        ("ling", "intention", "The way to the bakery that avoids the bank."),
        ("noor", "preview.to", "the nearest bakery and back"),
        ("peng", "errands.text", "To begin with buy bread, but to start post a letter."),
        ("peng", "errands.text", "Finally buy bread and finally post a letter."),
        ("peng", "errands.text", "Buy bread; first, post a letter."),
        ("peng", "errands.text", "Buy bread later. Post a letter."),
        ("peng", "errands.text", "Buy bread, but initially post a letter."),
        ("peng", "errands.text", "Buy bread and start with a letter to post."),
        ("peng", "errands.text", "I live near the library, the bank and the gym. Buy bread."),
        ("peng", "errands.text", "Meet my friend, who works at the bank, and buy bread."),
        ("peng", "errands.text", "Silently, and by the back streets, buy bread."),
        ("otto", "intention", "Otto takes the back way to the nearest bank."),
        ("ling", "intention", "A nice way to the nearest bakery."),
        ("hiro", "intention", "Hiro looks for a cafe in a nice street."),
        ("vivek", "client.intention", "A flat in a good area."),
        ("vivek", "client.intention", "We had a dishwasher, and want a flat with one."),
        ("vivek", "client.intention", "We had a balcony. A flat, please. I want one."),
        ("vivek", "client.intention", "We had a garden. I want a flat with that."),
        ("hiro", "intention", "She loved the terrace there; a cafe with one, please."),
        ("hiro", "intention", "He has a dog. He wants a cafe where he may sit."),
        ("hiro", "intention", "He walks his dog. A cafe for him."),
        ("aria", "client.intention", "I have a cat. A cafe that takes it."),
        ("hiro", "intention", "She looks for a cafe where it can come in."),
        ("diego", "client.intention", "A day without walking."),
        ("diego", "client.intention", "No walks, a museum and lunch."),
        ("diego", "client.intention", "No cafes, but a museum."),
        ("diego", "client.intention", "She hates museums but has to see one."),
        ("diego", "client.intention", "She hates museums, but wants to visit a museum today."),
        ("hiro", "intention", "His friend recommended a bakery. He wants to go there."),
        ("otto", "intention", "His friend recommended a bakery. Otto goes there."),
        ("hiro", "intention", "He knows a bakery. He goes there."),
        ("hiro", "intention", "His friend has a bakery. He goes to the bakery."),
        ("hiro", "intention", "Her aunt owns a bakery. She wants to buy bread at that bakery."),
        ("hiro", "intention", "Anna works in a cafe. He wants to have a coffee there."),
        ("hiro", "intention", "He met his wife in a cafe. He wants to have a coffee in the cafe."),
        ("hiro", "intention", "A friend swears by a certain ramen place. He wants to eat ramen there."),
        ("hiro", "intention", "Have a coffee at that cafe."),
        ("hiro", "intention", "He wants to go there. It is a bakery."),
        ("peng", "errands.text", "His mother runs a pharmacy. Buy aspirin from her."),
        ("peng", "errands.text", "Go to the bank that has her account."),
        ("peng", "errands.text", "There is a bakery that he knows. He goes there."),
        ("otto", "intention", "His aunt owns a cafe. Otto goes there."),
        ("diego", "client.intention", "Find the school she went to."),
        ("diego", "client.intention", "She read about a museum in a magazine. She would like to see it."),
        ("diego", "client.intention", "My uncle has a pharmacy. I want to go there."),
        ("diego", "client.intention", "A friend recommends a bakery. Go to it."),
        ("hiro", "intention", "He wants to eat at his sister."),
        ("hiro", "intention", "A cafe open all day."),
        ("peng", "errands.text", "Go to a cafe like the one in Paris."),
        ("peng", "errands.text", "Go to a cafe like the one at 91 Station Street."),
        ("peng", "errands.text", "Eat at a restaurant, the same as at 91 Station Street."),
        ("peng", "errands.text", "Buy bread like in Union Street."),
        ("peng", "errands.text", "Buy bread as good as at 91 Station Street."),
        ("peng", "errands.text", "Buy better bread than at 91 Station Street."),
        ("peng", "errands.text", "Go to a cafe unlike the one at 91 Station Street."),
        ("peng", "errands.text", "Post a letter at a shop similar to the one at 91 Station Street."),
        ("peng", "errands.text", "Go to a cafe like Blue Door."),
        ("peng", "errands.text", "Go to a cafe such as my mother's."),
        ("peng", "errands.text", "Buy bread as she does."),
        ("hiro", "intention", "A cafe as good as the one at home."),
        ("hiro", "intention", "A cafe as nice as his."),
        ("hiro", "intention", "A cafe like in Lyon."),
        ("hiro", "intention", "Bread as my mother does."),
        ("hiro", "intention", "A cafe as they are in Paris."),
        ("hiro", "intention", "The sort of cafe one has."),
        ("aria", "client.intention", "A cafe as nice as it gets."),
        ("aria", "client.intention", "A cafe like those in Vienna."),
        ("diego", "client.intention", "A cafe as they have in Lyon."),
        ("hiro", "intention", "A cafe that everybody knows."),
        ("hiro", "intention", "They say a cafe is good. She wants to go there."),
        ("hiro", "intention", "They say that there is a bakery. Go there."),
        ("diego", "client.intention", "He tells of a bakery. Go there."),
        ("diego", "client.intention", "A bakery is famous for its rolls. He wants to go there."),
        ("diego", "client.intention", "The bakery is famous. Go there."),
        ("diego", "client.intention", "One bakery is famous for its rolls. Visit it."),
        ("diego", "client.intention", "There is a museum that everybody praises. Go there."),
        ("diego", "client.intention", "A cafe is famous for its cake."),
        ("peng", "errands.text", "A bakery is known for its bread. Go there."),
        ("peng", "errands.text", "A cafe has good coffee. She wants to go there."),
        ("peng", "errands.text", "A bakery makes fine rolls. She wants to buy some."),
        ("hiro", "intention", "A cafe is said to be nice. She wants to go there."),
        ("hiro", "intention", "His cafe has good coffee. Go there."),
        ("hiro", "intention", "Some cafes have good cake. Go to one."),
        ("otto", "intention", "A bakery is a place with bread. Otto goes there."),
        ("aria", "client.intention", "A nice cafe is here. Go there."),
    ],
)
def test_what_nobody_looks_at_is_refused(agent: str, field: str, text: str) -> None:
    assert "do not understand" in refusal({"id": text, "agent": agent, "field": field, "text": text})


@pytest.mark.parametrize(
    ("agent", "field", "text"),
    [
        ("hiro", "intention", "He wants a coffee, not a bar please."),
        ("hiro", "intention", "Where can I find a cheap restaurant?"),
        ("aria", "client.intention", "Coffee within 5 minutes' walk, please."),
        ("vivek", "client.intention", "Peng looks for a home. A gym within a short walk is a must."),
        ("peng", "errands.text", "Collect a parcel at 137 Union Street before ten and buy bread."),
        ("local", "directions.to", "Vegan Bakery"),
        ("noor", "preview.to", "98 King Lane"),
        ("hiro", "intention", "My flight was late, and now I would like a coffee and somewhere to sit."),
        ("hiro", "intention", "All he wants is a coffee."),
        ("hiro", "intention", "Two friends and I fancy a proper dinner, nothing too spicy."),
        ("hiro", "intention", "Could you book a table at a restaurant where we can eat pizza?"),
        ("aria", "client.intention", "A friendly bakery within ten minutes' walk."),
        ("aria", "client.intention", "the best cafe in town"),
        ("june", "intention", "June wants a cheap cafe that is open now."),
        ("otto", "intention", "Otto walks to the nearest pharmacy and says how far it was."),
        ("mira", "intention", "Mira reads the signs in sight and says which shops can be seen."),
        ("peng", "errands.text", "Get a haircut and some flowers for my mother's birthday."),
        ("peng", "errands.text", "Buy bread and fish, post a letter and come home by noon."),
        ("peng", "errands.text", "Return two books to the library, in whichever order suits you best."),
        ("peng", "errands.text", "First buy bread, then post a letter, and finally go to the bank."),
        (
            "vivek",
            "client.intention",
            "A flat with two bedrooms, close to a school, for under $1,500 a month.",
        ),
        ("peng", "errands.text", "He works at the bank. Buy bread."),
        ("peng", "errands.text", "My wife, who works at the bank, needs bread."),
        ("peng", "errands.text", "To start, post a letter, then buy bread."),
        ("peng", "errands.text", "First of all get cash, then buy bread, finally post a letter."),
        ("june", "intention", "June lives near a library. She wants a cafe."),
        ("otto", "intention", "Otto works at a bank. He goes to the nearest pharmacy."),
        ("vivek", "client.intention", "A flat with two bedrooms. We have one now."),
        ("vivek", "client.intention", "A park, and a flat with one nearby."),
        ("hiro", "intention", "He has a dog. He wants a cafe."),
        ("hiro", "intention", "A restaurant where we can sit and eat."),
        ("diego", "client.intention", "There is a museum. She wants to see it."),
        ("diego", "client.intention", "No museums, but a church and a park."),
        ("hiro", "intention", "He is hungry. He wants to find a bakery and buy bread there."),
        ("hiro", "intention", "He works at the bank. He wants to find a bakery and buy bread there."),
        ("hiro", "intention", "Is there a cafe here? He wants to sit there."),
        ("hiro", "intention", "Find a bakery. At that bakery, buy bread."),
        ("hiro", "intention", "He was hungry all day. He wants to eat pizza."),
        ("hiro", "intention", "She wants a restaurant where she can eat pizza with her parents."),
        ("peng", "errands.text", "My wife asked for flowers. Buy flowers."),
        ("peng", "errands.text", "My wife needs bread. Buy flowers for my mother, too."),
        ("peng", "errands.text", "It is raining. Go to the pharmacy and buy aspirin there."),
        ("otto", "intention", "Otto looks for a bank. He goes there."),
        ("peng", "errands.text", "I'd like to post a letter at 91 Station Street."),
        ("peng", "errands.text", "He would like the keys from 130 Elm Walk."),
        ("peng", "errands.text", "Sign the lease as a tenant at 146 Chapel Street."),
        ("peng", "errands.text", "Pick up a parcel as soon as possible at 137 Union Street."),
        ("peng", "errands.text", "Walk like a local to 91 Station Street."),
        ("peng", "errands.text", "A parcel is waiting at 137 Union Street."),
        ("peng", "errands.text", "A parcel is ready at the post office. Fetch it."),
        ("peng", "errands.text", "A book is due at the library. Return it."),
        ("peng", "errands.text", "The bread is for my mother. Buy bread."),
        ("peng", "errands.text", "Go to a place such as a cafe."),
        ("peng", "errands.text", "Go to a cafe, as usual."),
        ("hiro", "intention", "He feels like a coffee."),
        ("hiro", "intention", "He wants to sit in a cafe like a local."),
        ("hiro", "intention", "A cafe as cheap as possible."),
        ("hiro", "intention", "He looks for a cafe as he is hungry."),
        ("hiro", "intention", "A cafe is good for lunch."),
        ("hiro", "intention", "She has time. A cafe is on the way."),
        ("aria", "client.intention", "Coffee in a cafe, as she has time."),
        ("aria", "client.intention", "A cafe will do. She wants to sit there."),
        ("aria", "client.intention", "One has to eat. A restaurant, please."),
        ("diego", "client.intention", "This town has a museum. She wants to see it."),
        ("diego", "client.intention", "A museum is a must."),
        ("diego", "client.intention", "There must be a cafe. She wants to sit there."),
        ("diego", "client.intention", "A cafe is what she wants."),
        ("vivek", "client.intention", "A park would be nice, and a supermarket close by is essential."),
        ("otto", "intention", "Otto goes to a bakery. The bakery is near."),
    ],
)
def test_ordinary_wishes_and_names_go_on(agent: str, field: str, text: str) -> None:
    assert not refusal({"id": text, "agent": agent, "field": field, "text": text})
