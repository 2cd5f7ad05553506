"""Characters that live by tools, from random starts, and whether what they want is met.

June, Mira and Otto come with virl. Nora, Pavel and Yuki lie beside this file, written after the rules.
Each has a second row, `..._at_random`: the same character, whose tools are used at random.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, ToolCall, ToolMessage

from virl.agent.character_file import find_character, load_character
from virl.agent.tool import FINISH, ToolData
from virl.bench.benchmark import Metric
from virl.bench.episode import Data, Record
from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord, StepRecord
from virl.mind.cache import summarize_answer, summarize_request
from virl.mind.chat.asking import ModelCall
from virl.mind.chat.client import MessagesInWords
from virl.mind.rules import RuleMind
from virl.money.book import Exchange
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.interchange import held_street_map
from virl.routines.by_tools.deciding import Decider
from virl.tools.base import Listing, ToolResult
from virl.tools.moving import Whereabouts
from virl.tools.places import ListedPlace, PlaceFacts
from virl.tools.task import Consulted

from .scoring import AgentCase, ScoredAgent
from .tool_life import ToolLife
from .tool_truth import CHECKS

CASES = 20
AT_RANDOM = "_at_random"
KINDS = {"june": ["restaurant"], "otto": ["pharmacy"], "nora": ["library"], "yuki": ["cafe"]}
"""Types of places that an agent's random tool user looks for, which it knows for free."""
ENDS_WITH = 0.1  # chance of a random tool user to finish, in every turn after the fifth (chosen)
SURE_TURNS = 5

METRICS = (
    Metric("met", "intention met", about="runs that meet all conditions"),
    Metric("checks", "conditions met", about="mean share of conditions met"),
)
"""Share of runs that meet all conditions, and mean share of conditions met."""


class RandomTools(RuleMind, Decider):
    """A mind that uses tools at random, with arguments taken from earlier tool results."""

    def __init__(self, tools: Sequence[str], kinds: Sequence[str], seed: str, ledger: Ledger) -> None:
        """Choose among `tools`, for places of the types `kinds`, repeatably by `seed`."""
        super().__init__(ledger=ledger)
        self.name = "random"
        self._tools, self._kinds, self._seed = tools, kinds, seed

    def converse(
        self,
        prompt: str,
        ask: ModelCall,  # noqa: ARG002 - of the protocol
        messages: Sequence[BaseMessage],
        frame: Mapping[str, object],  # noqa: ARG002 - of the protocol
        in_words: MessagesInWords | None = None,  # noqa: ARG002 - of the protocol
    ) -> AIMessage:
        """Return a call of a random tool; from the sixth turn on, by chance the call that ends the run."""
        number = 1 + sum(isinstance(message, AIMessage) for message in messages)
        rng = Random(f"{self._seed} {number}")
        replies = [message for message in messages if isinstance(message, ToolMessage)]
        told = "\n".join(message.text for message in replies)
        data = [one.artifact.data for one in replies if isinstance(one.artifact, ToolResult)]
        ends = number > SURE_TURNS and rng.random() < ENDS_WITH
        tool = FINISH if ends else rng.choice(self._tools)
        call = ToolCall(name=tool, args=self._arguments(tool, told, data, rng), id=f"random-{number}")
        said = AIMessage(content="", tool_calls=[call])
        self.ledger.add(Exchange(prompt, self.name, summarize_request(messages), summarize_answer(said)))
        return said

    def _arguments(
        self, tool: str, told: str, data: Sequence[ToolData | None], rng: Random
    ) -> dict[str, Any]:
        """Return random arguments for a tool, from the texts (`told`) and data of earlier results."""
        ids = [one for each in data for one in _places(each)]
        spots = [str(each.surroundings.position) for each in data if isinstance(each, Whereabouts)]
        for spot in spots:
            told = told.replace(f"at {spot}", "")
        seen = " ".join(told.split())[-1500:]
        known, spots = ids or ["unknown"], spots or [""]
        compass = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
        heading, width = rng.randrange(360), rng.choice((40, 60, 90))
        shot = f"Stand at {rng.choice(spots)}; point the camera at {heading} degrees; {width} degrees wide."
        options: dict[str, dict[str, Any]] = {
            "move": {"direction": rng.choice(compass), "steps": rng.randint(1, 10)},
            "turn": {"direction": rng.choice(compass)},
            "nearby_places": {"types": list(self._kinds), "radius_m": 500},
            "search_places": {"query": " ".join(self._kinds) or "shop"},
            "place_details": {"place_id": rng.choice(known)},
            "route": {"place_id": rng.choice(known)},
            "geocode": {"address": "1 School Street"},
            "ask_about_view": {"question": "What is there?", "direction": rng.choice(compass)},
            "consult": {"agent": "aria", "request": f"Find a {' or '.join(self._kinds) or 'place'}."},
            FINISH: {
                "answer": f"{shot} {seen} Its sign can be seen.",
                "succeeded": True,
                **({"place_id": rng.choice(known)} if ids else {}),
            },
        }
        return options.get(tool, {})


def _places(data: ToolData | None) -> list[str]:
    """Return the ids of the places in a tool's result."""
    match data:
        case Listing():
            return [one.id for one in data.items if isinstance(one, ListedPlace)]
        case PlaceFacts():
            return [data.place.id]
        case Consulted() if data.place:
            return [data.place.id]
    return []


def _cases(city: City, seed: int, *, agent: str) -> list[str]:  # noqa: ARG001 - the same for every city and seed
    """Return the names of an agent's cases: `june-00` and so on."""
    return [f"{agent}-{number:02d}" for number in range(CASES)]


def run(case: AgentCase, *, agent: str) -> dict[str, Any]:
    """Run the agent from a start drawn by the case's seed, and return which of its conditions are met."""
    city = case.city
    rng = Random(f"{case.seed} {case.id}")
    start = city.streetview.panorama(rng.choice(held_street_map(city).panorama_ids()))
    name = _name_of(agent)
    character = load_character(find_character(name))
    mind = None
    if case.row.endswith(AT_RANDOM):
        kinds = KINDS.get(agent, [])
        mind = RandomTools(character.tools, kinds, f"{case.seed} {case.id}", case.mind.ledger)
    result = case.run(
        name, {"start": {"lat": start.position.lat, "lng": start.position.lng}}, mind, must_answer=False
    )
    records = read_journal(case.folder)
    life = ToolLife(
        city,
        character,
        start.position,
        result,
        [one for one in records if isinstance(one, StepRecord)],
        [one for one in records if isinstance(one, NoteRecord) and one.topic == "tool"],
    )
    checks = CHECKS[agent](life)
    return {
        "intention": character.intention,
        "start": start.id,
        "answer": life.answer,
        "turns": len(life.calls),
        "steps": result.steps,
        "missed": [name for name, met in checks.items() if not met],
        "met": all(checks.values()),
        "checks": sum(checks.values()) / len(checks),
    }


def unanswered(case: AgentCase, *, agent: str) -> dict[str, Any]:  # noqa: ARG001 - the same for every case
    """Return the data of a case in which the agent did nothing."""
    intention = load_character(find_character(_name_of(agent))).intention
    missed = {"missed": ["all"], "met": False, "checks": 0.0}
    return {"intention": intention, "start": "", "answer": "", "turns": 0, "steps": 0} | missed


def _name_of(agent: str) -> str:
    """Return the name of an agent, or the path of its file if that is in this folder."""
    own = Path(__file__).with_name(f"{agent}.yaml")
    return str(own) if own.exists() else agent


def outcome(data: Data) -> tuple[str, float | None]:
    """Return (words on the conditions missed, 1 if all are met, else 0)."""
    return ("met" if data["met"] else f"missed: {', '.join(data['missed'])}"), float(data["met"])


def notes(records: Sequence[Record]) -> list[str]:
    """Return a note on the number of starts and the target."""
    return [f"{records[0].model}: starts: {len(records)}; target: the intention is met from at least 60 %"]


TOOL_AGENTS: Mapping[str, ScoredAgent] = {
    agent: ScoredAgent(
        rows=(agent, f"{agent}{AT_RANDOM}"),
        cases=partial(_cases, agent=agent),
        run=partial(run, agent=agent),
        unanswered=partial(unanswered, agent=agent),
        metrics=METRICS,
        outcome=outcome,
        notes=notes,
    )
    for agent in CHECKS
}
