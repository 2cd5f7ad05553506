"""All sessions of an MCP server: opening, finding and resuming them, within one budget."""

import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from pydantic import Field

from virl.agent.character import Character
from virl.agent.character_file import agent_names, find_character, load_character
from virl.agent.plan import RUNS, RunOptions, made_folder
from virl.agent.tool import Arguments
from virl.errors import BadInput, UnknownName
from virl.journal.journal import RULES, asks_model, read_journal
from virl.journal.records import AccessRecord
from virl.journal.report import cost_so_far, start_of
from virl.mind.open import open_mind
from virl.money.book import MOST_USD
from virl.platform.providers.cities import all_cities, city_settings, name_of_city
from virl.platform.providers.provider import provider_of
from virl.serve.mcp.session import CitySession
from virl.serve.running import check_key

MOST_OPEN = 8
"""Default limit on the sessions open at once; chosen: each holds a city in memory."""
IDLE_S = 600.0
"""Seconds without a call, after which a session may be set aside for another one; chosen."""
DECIDED_BY = "an MCP client"
"""Value of `decided_by` in runs of sessions, by which they are known when they are resumed."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}")

VISITOR = Character(
    name="Visitor",
    city="virlton",
    start="91 Station Street",
    background="Somebody who looks around in a city.",
    intention="Do what the user of the client asks for.",
    tools="all",
)
"""The character that acts in a session if no agent is named."""


class OpenCity(Arguments):
    """Open a city and stand in it: the first call. Gives the id of a session, which all other tools take.

    A session is a run: what is done in it is written down, limited and paid from its budget, until finish
    ends it. With resume, a session that was cut off goes on.
    """

    city: str = Field(
        "", description="A city of the list in the resource virl://cities; by default the server's."
    )
    at: str = Field(
        "",
        max_length=200,
        description="Where to start: an address in the city, or 'lat,lng'; else the agent's start.",
    )
    agent: str = Field(
        "",
        description="Who to be: an agent's name, as the prompts list them; else the server's, or a visitor.",
    )
    intention: str = Field(
        "",
        max_length=1000,
        description="What is to be done, in full sentences, for the record; else the agent's own.",
    )
    steps: int | None = Field(None, ge=1, le=10_000, description="Moves from panorama to panorama at most.")
    budget_usd: float | None = Field(
        None,
        ge=0,
        le=MOST_USD,
        description="Dollars that the session may spend, within what the server has left.",
    )
    pictures: bool = Field(
        default=True,
        description="Whether looks come as pictures; false for a model that sees none: then in words.",
    )
    resume: str = Field(
        "", max_length=130, description="The id of a session that was cut off, to go on with it."
    )


@dataclass(frozen=True, slots=True)
class SessionDefaults:
    """Settings of a server for what a client does not name when it opens a session."""

    city: str = ""
    """Name or path of a city; empty for the agent's own."""
    at: str = ""
    """Address, or position "lat,lng", in the default city; empty for the agent's start."""
    agent: str = ""
    """Name of an agent, or path of a character file; empty for `VISITOR`."""
    mind: str = RULES
    """Name of the mind of agents that are consulted; the client itself decides for its agent."""
    runs: Path = RUNS
    """Folder in which each session's run gets a folder."""
    budget_usd: float | None = None
    """Dollars that all sessions together may spend; `None` sets no limit, but refuses paid cities."""
    most_open: int = MOST_OPEN
    """Most sessions that may be open at once."""


class Sessions:
    """All sessions of an MCP server, by id. Safe to use from several threads."""

    def __init__(self, defaults: SessionDefaults) -> None:
        """Start without sessions; new ones take these defaults."""
        self.defaults = defaults
        self._sessions: dict[str, CitySession] = {}
        self._opening: dict[str, CitySession] = {}
        """Sessions whose cities are being opened at the moment, by id."""
        self._lock = threading.Lock()

    def __iter__(self) -> Iterator[CitySession]:
        """Iterate over the sessions that were opened in this process, the oldest first."""
        return iter(list(self._sessions.values()))

    def check(self) -> None:
        """Check that the default city exists and may be paid for, and that the default mind opens.

        Raises:
            VirlError: one of these is not so.
        """
        self._check_cost(self.defaults.city or _home_city(self.defaults.agent))
        open_mind(self.defaults.mind, cache_dir=None)

    def find(self, id: str) -> CitySession:  # noqa: A002
        """Return the session with an id; for an empty id the only open session.

        Raises:
            BadInput: no session is open, or several are, or this one has to be resumed first.
            UnknownName: there is no such session.
        """
        if id:
            if found := self._sessions.get(id):
                return found
            if _ID.fullmatch(id) and (self.defaults.runs / id).is_dir():
                raise BadInput(f"session {id} is not open: call open_city with resume={id!r}")
            raise UnknownName("session", id[:130], self._sessions)
        live = [one for one in self if one.is_open]
        if len(live) == 1:
            return live[0]
        if live:
            raise BadInput(
                f"several sessions are open: give session, one of {', '.join(one.id for one in live)}"
            )
        raise BadInput("no session is open: call open_city first")

    def open(self, request: OpenCity) -> CitySession:
        """Open a session, new or resumed, and return it once its run has been opened.

        Raises:
            VirlError: the session cannot be opened.
        """
        with ExitStack() as stack:
            with self._lock:
                self._make_room()
                if request.resume:
                    options = self._resume_options(request)
                else:
                    options = self._new_options(request)
                    agent = f"mcp-{Path(options.agent).stem or 'visitor'}"
                    options = replace(
                        options, out=stack.enter_context(made_folder(agent, self.defaults.runs))
                    )
                folder = options.out or self.defaults.runs
                session = CitySession(folder.name, options, pictures=request.pictures)
                self._opening[session.id] = session
            try:
                session.open()
                self._sessions[session.id] = session
            finally:
                del self._opening[session.id]
        return session

    def close(self) -> None:
        """Set all open sessions aside, so that they can be resumed."""
        for session in self:
            if session.is_open:
                session.set_aside()

    def _make_room(self) -> None:
        """Set aside the longest idle session if `most_open` are open; raise `BadInput` if none is idle."""
        live = [one for one in self if one.is_open and one.id not in self._opening]
        taken = len(live) + len(self._opening)
        if taken < self.defaults.most_open:
            return
        # Setting aside loses nothing: the session's run stays open and is resumed by its id.
        oldest = min(live, key=lambda one: one.used, default=None)
        if oldest is None or oldest.current or monotonic() - oldest.used < IDLE_S:
            raise BadInput(
                f"all {taken} sessions of this server are open: finish one of yours, or ask again later; "
                f"one that is idle for {IDLE_S / 60:.0f} minutes makes room (the server's `--sessions` sets "
                "the number)"
            )
        oldest.set_aside()

    def _new_options(self, request: OpenCity) -> RunOptions:
        """Return the options of the run of a new session, from a client's request and the defaults."""
        defaults = self.defaults
        if request.agent and request.agent not in agent_names():
            raise UnknownName("agent", request.agent, agent_names())
        agent = request.agent or defaults.agent
        fields: dict[str, object] = {"intention": request.intention} if request.intention else {}
        if request.steps is not None:
            fields["limits.steps"] = request.steps
        city = request.city
        if not city or (defaults.city and city == name_of_city(defaults.city)):
            city = defaults.city
        elif city != defaults.city and city not in all_cities():
            # No paths: a client may not open other files of the server's machine.
            raise UnknownName("city", city[:100], all_cities())
        self._check_cost(city or _home_city(agent))
        return RunOptions(
            agent=agent,
            character=None if agent else VISITOR,
            city=city or None,
            # The server's own start is a place of the server's own city.
            at=request.at or ("" if request.city else defaults.at) or None,
            mind=defaults.mind,
            fields=fields,
            access=AccessRecord(budget_usd=self._session_budget(request.budget_usd)),
            decided_by=DECIDED_BY,
        )

    def _resume_options(self, request: OpenCity) -> RunOptions:
        """Return the options of a run to resume; raise `BadInput` if it is open or no session's run."""
        folder = self.defaults.runs / request.resume
        found = self._sessions.get(request.resume)
        if request.resume in self._opening or (found and found.is_open):
            raise BadInput(f"session {request.resume} is open: use it")
        # An id that is a path would lead out of the folder of runs.
        if not _ID.fullmatch(request.resume) or not (folder / "journal.jsonl").is_file():
            raise BadInput(f"{self.defaults.runs}: no session {request.resume[:130]!r} to resume")
        records = read_journal(folder)
        begun = start_of(records)
        if begun.decided_by != DECIDED_BY:
            raise BadInput(f"{request.resume} is a run of {begun.decided_by or 'a routine'}, and no session")
        self._check_cost(begun.city)
        spent = cost_so_far(folder, records).usd
        budget = begun.access.budget_usd if request.budget_usd is None else request.budget_usd
        # A run's budget counts from its beginning: what it spent before is not promised again.
        more = self._session_budget(None if budget is None else max(0.0, budget - spent))
        own = self.defaults.agent and find_character(self.defaults.agent).stem == begun.agent
        known = begun.agent in agent_names()
        return RunOptions(
            agent=self.defaults.agent if own else begun.agent if known else "",
            character=None if own or known else VISITOR,
            out=folder,
            resume=True,
            access=AccessRecord(budget_usd=None if more is None else spent + more),
            decided_by=DECIDED_BY,
        )

    def _check_cost(self, city: str) -> None:
        """Raise `BadInput` for a city that costs money if the server has no budget."""
        if self.defaults.budget_usd is None and provider_of(city_settings(city)).may_cost:
            raise BadInput(
                f"{city} costs money: start the server with --budget-usd, the dollars that it may spend"
            )

    def _session_budget(self, usd: float | None) -> float | None:
        """Return a session's dollars: the lesser of `usd` and what the server has left; `None`: no limit."""
        total = self.defaults.budget_usd
        if total is None:
            return usd
        left = total - sum(map(self._reserved_usd, {**self._sessions, **self._opening}.values()))
        if left <= 0 < total:
            raise BadInput(
                f"the server's ${total:.2f} are spent or promised to other sessions: finish one, or open the "
                "next with a smaller budget_usd"
            )
        return left if usd is None else min(usd, left)

    def _reserved_usd(self, session: CitySession) -> float:
        """Return the dollars of an open session's budget, or those that an ended session has spent."""
        # An open session may still spend all of its budget; one that is over, no more than it did.
        if session.is_open and session.budget_usd is not None:
            return session.budget_usd
        folder = self.defaults.runs / session.id
        return cost_so_far(folder, read_journal(folder)).usd if folder.is_dir() else 0.0


def opened_sessions(defaults: SessionDefaults, resume: str, *, key: str | None, over_http: bool) -> Sessions:
    """Return a new server's sessions, its defaults checked, the session with id `resume` reopened, if given.

    Args:
        defaults: settings of new sessions.
        resume: the id of a session to resume; empty for none.
        key: the key that clients have to show; `None` if it is not set.
        over_http: True if any program of this machine can connect, not just the one that started the server.

    Raises:
        BadInput: a name in the defaults is unknown, or a model or city that costs money needs a key or a
            budget.
        VirlError: the session cannot be resumed.
    """
    sessions = Sessions(defaults)
    sessions.check()
    if over_http and (asks_model(defaults.mind) or defaults.budget_usd is not None):
        check_key(key, "serving over HTTP what costs money")
    if resume:
        sessions.open(OpenCity(resume=resume))
    return sessions


def _home_city(agent: str) -> str:
    """Return the name of the city in which an agent starts; for an empty name the visitor's."""
    return load_character(find_character(agent)).city if agent else VISITOR.city
