"""Lives by tools for tests: a character in Virlton, a scripted model behind it, a journal to look into."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from made_run import begun
from openai_server import Answer, ChatServer, Request

from virl.agent.agent import Agent
from virl.agent.assembly import assemble
from virl.agent.character import Character, character_model
from virl.agent.character_file import LoadedCharacter
from virl.agent.routine import our_fields
from virl.agent.run import Run
from virl.agent.tool import TOOLS
from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord, Result, StepRecord
from virl.mind.open import open_mind
from virl.money.ledger import Ledger
from virl.platform.city.city import City, Truth
from virl.platform.movers.base import LinksMover
from virl.platform.perception.models import ModelOptions, Models
from virl.platform.providers.cities import open_city
from virl.settings.model import check_settings
from virl.tools.body import Body

MODEL = "openai:gpt-5-mini"
START = "91 Station Street"


def made_character(**fields: Any) -> Character:
    """Somebody with all tools."""
    data = {
        "name": "Tess",
        "city": "virlton",
        "start": START,
        "background": "Curious.",
        "intention": "Tess wants to know where she is.",
        "tools": "all",
        "senses": {"detector": "simulated"},
    }
    return check_settings(data | fields, character_model(our_fields()), source="tess")


@cache
def virlton() -> City:
    """Opened once for all tests of a process."""
    return open_city("virlton")


@cache
def models_of(truth: Truth | None) -> Models:
    """Opened once for all lives."""
    return Models(ModelOptions(truth=truth))


def made_agent(city: City, folder: Path, character: Character, *, url: str = "", **options: Any) -> Agent:
    """An agent whose run begins in a folder, or goes on there; close its journal with `close`."""
    ledger = Ledger(options.get("budget_usd"))
    mind = open_mind(
        MODEL if url else "rules", cache_dir=options.get("cache_dir"), base_url=url or None, ledger=ledger
    )
    journal, start, done = begun(folder, "tess", character.model_dump(mode="json"), mind=mind.name)
    models = models_of(city.truth)
    source = folder / "tess.yaml"
    assembly = assemble(LoadedCharacter(source, character), city, mind, models, LinksMover(city.streetview))
    return assembly.agent(Run(journal, start, done, city=city.title, ledger=ledger))


def use(body: Body, name: str, **arguments: Any) -> str:
    """What a tool tells a model."""
    tool = TOOLS.find(name)
    return tool.act(body, tool.arguments.model_validate(arguments)).text


@dataclass
class Life:
    """One life after another of the same run, each before a server of its own."""

    city: City
    folder: Path
    character: Character = field(default_factory=made_character)
    requests: list[Request] = field(default_factory=list)
    """All that the model was asked."""

    def live(self, script: Sequence[Answer], **options: Any) -> Result:
        """Let the script answer until the run ends; raises what the routine raises."""
        with ChatServer(script) as server:
            try:
                return self.live_at(server.url, **options)
            finally:
                self.requests += server.requests

    def live_at(self, url: str, **options: Any) -> Result:
        """As `live`, before a server that is there already."""
        agent = made_agent(self.city, self.folder, self.character, url=url, **options)
        try:
            agent.loaded.routine.run()(agent)
        finally:
            agent.run._journal.close()
        assert agent.run.result is not None
        return agent.run.result

    @property
    def tools(self) -> list[NoteRecord]:
        """The notes on tools, in order."""
        return self._notes("tool")

    @property
    def thoughts(self) -> list[NoteRecord]:
        """The notes on turns of the model, in order."""
        return self._notes("thought")

    @property
    def steps(self) -> list[StepRecord]:
        """The steps."""
        return [record for record in read_journal(self.folder) if isinstance(record, StepRecord)]

    def told(self, turn: int = -1) -> list[str]:
        """The results of tools in a request of the model."""
        return [str(one["content"]) for one in self.requests[turn].messages if one["role"] == "tool"]

    def _notes(self, topic: str) -> list[NoteRecord]:
        records = read_journal(self.folder)
        return [record for record in records if isinstance(record, NoteRecord) and record.topic == topic]


def finish(answer: str = "Done.", *, succeeded: bool = True, **more: Any) -> tuple[str, Mapping[str, Any]]:
    """The call that ends a life."""
    return "finish", {"answer": answer, "succeeded": succeeded, **more}
