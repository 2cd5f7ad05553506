"""Characters that live by tools under rules and scripts: no model, no key."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from made_life import made_agent, made_character, virlton

from virl.agent.agent import Agent
from virl.agent.assembly import check_mind
from virl.agent.character_file import LoadedCharacter, find_character, load_character
from virl.errors import BadInput, MindFailed
from virl.geo.globe import LatLng
from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord, Result
from virl.mind.rules import RuleMind
from virl.mind.script import ScriptMind
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.places import Places
from virl.routines.by_tools import deciding
from virl.routines.by_tools.deciding import plan_for
from virl.routines.by_tools.goals import ToolGoal, read_goal
from virl.routines.by_tools.street_plans import Plan, Situation


@pytest.fixture(scope="module")
def city() -> City:
    return virlton()


def goal_of(intention: str) -> ToolGoal:
    return read_goal(made_character(intention=intention))


def live(agent: Agent) -> Result:
    try:
        agent.loaded.routine.run()(agent)
    finally:
        agent.run._journal.close()
    assert agent.run.result
    return agent.run.result


def lived(city: City, folder: Path, **fields: Any) -> Result:
    return live(made_agent(city, folder, made_character(**fields)))


def scripted(city: City, folder: Path, text: str, **fields: Any) -> Agent:
    script = folder.parent / "script.yaml"
    script.write_text(text, encoding="utf-8")
    made = made_agent(city, folder, made_character(**fields))
    return replace(made, mind=ScriptMind(script, ledger=made.run.ledger))


def test_a_plan_is_played_once(city: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Situation] = []

    def counted(situation: Situation) -> Plan:
        begun.append(situation)
        return plan_for(situation)

    monkeypatch.setattr(deciding, "plan_for", counted)
    lived(city, tmp_path / "run", intention="Tess needs a bakery that is open now.")
    assert len(calls(tmp_path / "run")) > 1
    assert len(begun) == 1


def calls(folder: Path) -> list[str]:
    notes = [one for one in read_journal(folder) if isinstance(one, NoteRecord) and one.topic == "tool"]
    return [str(one.data["name"]) for one in notes]


@pytest.mark.parametrize(
    ("intention", "expected"),
    [
        (
            "Tess needs a bakery that is open now.",
            {"seeking": "place", "place_type": "bakery", "open_now": True},
        ),
        ("Tess looks for the nearest library that is quiet.", {"nearest": True, "place_type": "library"}),
        ("Tess wants to get to 12 Station Street.", {"address": "12 Station Street", "place_type": ""}),
        ("Tess wants to visit the Harbor Library today.", {"name": "Harbor Library", "go_there": True}),
        ("Tess is tired and looks for a bench.", {"seeking": "thing", "things": ("bench",)}),
        ("Tess wants to know how many benches are in sight.", {"seeking": "count", "things": ("bench",)}),
        ("Tess wants to photograph a busy corner.", {"seeking": "view"}),
        (
            "Tess asks another agent for a cheap bar.",
            {"ask_others": True, "place_type": "bar", "max_price": 1},
        ),
    ],
)
def test_intentions_are_read(intention: str, expected: dict[str, object]) -> None:
    goal = goal_of(intention)
    assert {name: getattr(goal, name) for name in expected} == expected


@pytest.mark.parametrize(
    "intention", ["Tess wants to know where she is.", "近くの静かな図書館を探しています。"]
)
def test_an_intention_that_is_not_understood_is_refused_with_what_would_be(intention: str) -> None:
    with pytest.raises(
        BadInput, match=r"they understand English intentions of these kinds: .*--mind openai:MODEL"
    ):
        goal_of(intention)


def test_tools_that_do_not_suffice_are_named_before_a_run(tmp_path: Path) -> None:
    character = made_character(intention="Tess looks for a bench.", tools=["look"])
    with pytest.raises(BadInput, match="they need detect; add them to `tools`"):
        check_mind(LoadedCharacter(tmp_path / "tess.yaml", character), RuleMind())


@pytest.mark.slow
def test_the_rules_find_a_place_that_holds_and_tell_the_way(city: City, tmp_path: Path) -> None:
    wanted = "Tess needs the nearest bakery that is open now and well liked, and wants to know how far it is."
    result = lived(city, tmp_path / "run", intention=wanted)
    assert (result.status, result.cost.llm_calls) == ("finished", 0)
    assert result.place
    place = city.places.details(result.place.id)
    assert "bakery" in place.types
    assert place.open_at(2, 12 * 60 + 30)
    assert "The walk is" in result.reason
    assert calls(tmp_path / "run")[-1] == "finish"


def test_the_rules_go_to_an_address(city: City, tmp_path: Path) -> None:
    result = lived(
        city,
        tmp_path / "run",
        intention="Tess goes to 101 Station Street.",
        tools=["route", "move", "where_am_i"],
    )
    assert result.status == "finished"
    assert result.steps > 0
    assert "ended at the place" in result.reason


def test_a_turn_follows_from_the_conversation_alone_so_a_run_can_be_resumed(
    city: City, tmp_path: Path
) -> None:
    wanted = {"intention": "Tess needs a pharmacy that is open now. She wants to know how far it is."}
    whole = lived(city, tmp_path / "whole", **wanted)
    cut = tmp_path / "cut"
    cut.mkdir()
    lines = (tmp_path / "whole/journal.jsonl").read_bytes().splitlines(keepends=True)
    (cut / "journal.jsonl").write_bytes(b"".join(lines[:4]))
    again = lived(city, cut, **wanted)
    assert (again.reason, again.place) == (whole.reason, whole.place)
    assert calls(cut) == calls(tmp_path / "whole")


def without_data(line: bytes) -> bytes:
    """A line of a journal as versions of virl wrote it whose tools returned no data."""
    record = json.loads(line)
    if record.get("topic") == "tool":
        del record["data"]["data"]
    return json.dumps(record).encode() + b"\n"


def test_a_run_of_an_earlier_version_goes_on_at_every_line_to_the_same_end(
    city: City, tmp_path: Path
) -> None:
    wanted = {
        "intention": "Tess needs a pharmacy that is open now and wants to know how far it is. She goes.",
        "tools": ["nearby_places", "place_details", "route", "where_am_i", "move"],
    }
    whole = lived(city, tmp_path / "whole", **wanted)
    lines = (tmp_path / "whole/journal.jsonl").read_bytes().splitlines(keepends=True)
    old = [without_data(line) for line in lines]
    assert old != lines
    for number in range(2, len(old)):
        cut = tmp_path / f"cut-{number}"
        cut.mkdir()
        (cut / "journal.jsonl").write_bytes(b"".join(old[:number]))
        shutil.copytree(tmp_path / "whole/views", cut / "views")
        again = lived(city, cut, **wanted)
        assert (again.status, again.reason, again.steps) == (whole.status, whole.reason, whole.steps), number
        assert calls(cut) == calls(tmp_path / "whole")


def test_what_would_cost_money_again_is_not_asked_again_and_the_run_ends_all_the_same(
    city: City, tmp_path: Path
) -> None:
    wanted = {"intention": "Tess needs a pharmacy that is open now. She wants to know how far it is."}
    lived(city, tmp_path / "whole", **wanted)
    lines = (tmp_path / "whole/journal.jsonl").read_bytes().splitlines(keepends=True)
    cut = tmp_path / "cut"
    cut.mkdir()
    (cut / "journal.jsonl").write_bytes(b"".join(map(without_data, lines[:4])))
    asked: list[float] = []

    class Asked:
        """Places that write down how often they are asked for a list."""

        def __getattr__(self, name: str) -> Any:
            return getattr(city.places, name)

        def nearby(self, position: LatLng, radius: float, *given: Any, **more: Any) -> Any:
            asked.append(radius)
            return city.places.nearby(position, radius, *given, **more)

    paid = replace(city, places=cast("Places", Asked()), ledger=Ledger())
    agent = made_agent(paid, cut, made_character(**wanted))
    first = calls(cut)
    result = live(agent)
    assert result.status in ("finished", "gave up")
    assert result.reason
    assert calls(cut)[: len(first)] == first
    assert len(asked) == calls(cut)[len(first) :].count("nearby_places")


def test_the_rules_end_at_the_limit_of_turns(city: City, tmp_path: Path) -> None:
    wanted = "Tess needs a spa that is open now and wants to know how far it is."
    result = lived(city, tmp_path / "run", intention=wanted, limits={"calls": 2})
    assert result.status == "gave up"
    assert "No turns are left" in result.reason


SCRIPT = """\
turns:
  - tool: where_am_i
    says: Where am I?
  - calls:
      - {tool: turn, args: {direction: east}}
      - {tool: where_am_i}
"""


def test_a_script_is_played_and_goes_on_where_it_ended(city: City, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(MindFailed, match="line 4: the script ends here, but the agent needs turn 3"):
        live(scripted(city, folder, SCRIPT))
    result = live(scripted(city, folder, SCRIPT + "  - {answer: On Station Street., succeeded: false}\n"))
    assert (result.status, result.outcome) == ("gave up", Outcome("gave up", "On Station Street."))
    assert calls(folder) == ["where_am_i", "turn", "where_am_i", "finish"]
    assert (result.cost.llm_calls, result.cost.usd) == (0, 0.0)


@pytest.mark.parametrize(
    ("turn", "fault"),
    [
        ("{tool: fly}", "line 5: turn 3: Tess has no tool 'fly': choose one of: look"),
        ("{tool: move, args: {direction: up}}", "line 5: turn 3: move: direction: neither a word"),
        ("{tool: place_details, args: {id: x}}", "line 5: turn 3: place_details: place_id: Field required"),
    ],
)
def test_a_turn_that_does_not_fit_is_refused_before_the_first(
    city: City, tmp_path: Path, turn: str, fault: str
) -> None:
    folder = tmp_path / "run"
    with pytest.raises(BadInput, match=fault):
        live(
            scripted(
                city, folder, f"turns:\n  - tool: where_am_i\n  - tool: look\n    says: So.\n  - {turn}\n"
            )
        )
    assert not calls(folder)


def test_a_tool_that_refuses_what_a_script_asks_ends_the_run_with_file_and_line(
    city: City, tmp_path: Path
) -> None:
    text = "turns:\n  - tool: place_details\n    args: {place_id: nowhere}\n"
    with pytest.raises(
        BadInput, match=r"script.yaml, line 2: turn 1: place_details: no place has the id 'nowhere'"
    ):
        live(scripted(city, tmp_path / "run", text))


@pytest.mark.parametrize("name", ["hiro", "aria", "vivek", "diego", "local"])
def test_rules_say_before_a_run_that_they_know_english_only(name: str) -> None:
    source = find_character(name)
    character = load_character(source)
    check_mind(LoadedCharacter(source, character), RuleMind())
    wish = "春日は静かな店を探しています。"
    changes: dict[str, object] = {"intention": wish}
    if getattr(character, "client", None):
        changes["client"] = character.client.model_copy(update={"intention": wish})  # type: ignore[attr-defined]
    with pytest.raises(BadInput, match=r"English|the rules find no"):
        check_mind(LoadedCharacter(source, character.model_copy(update=changes)), RuleMind())


def test_the_script_of_the_docs_is_played_to_its_end(
    city: City, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from virl.cli.agents import write_character

    docs = Path(__file__).parents[3] / "docs/tutorial/zoe-script.yaml"
    shutil.copy(docs, tmp_path / "script.yaml")
    character = load_character(write_character("zoe", tmp_path, tools=True))
    fields = {name: getattr(character, name) for name in ("name", "intention", "tools", "start", "clock")}
    result = live(scripted(city, tmp_path / "run", docs.read_text(encoding="utf-8"), **fields))
    assert result.status == "finished"
    assert result.place
    assert city.places.details(result.place.id).open_at(*character.day_and_minute)
