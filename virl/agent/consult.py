"""One agent consults another: a run within a run, with its own journal, paid by the caller."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime

from virl.agent.agent import Agent
from virl.agent.assembly import assemble, perform
from virl.agent.character import Character
from virl.agent.character_file import LoadedCharacter, find_character, load_character
from virl.agent.going_on import ended_before, first_position, replace_missing_panoramas
from virl.agent.run import Run
from virl.agent.user import User
from virl.errors import BadInput
from virl.journal.folder import CONSULTED
from virl.journal.journal import Journal
from virl.journal.records import NoteRecord, Result, StartRecord
from virl.journal.report import write_report
from virl.money.ledger import account
from virl.settings.model import check_settings
from virl.version import code_version

TOPIC = "consultation"
THOUGHT, LOST = "thought", "lost-turn"
"""Topics of notes on a model's turns: those it finished, and those that an error or the budget cut off."""
DEPTH = 3
"""Most agents in a chain in which each consults the next; chosen."""


def consult(
    agent: Agent,
    name: str,
    key: str,
    *,
    about: str,
    changes: Mapping[str, object] | None = None,
    user: User | None = None,
) -> Result:
    """Run the agent `name` in the caller's city; return its result, or the one noted earlier under `key`.

    It shares the caller's city, mind, models, mover and budget. Its steps and turns count towards the
    caller's limits, its cost is the caller's. A consultation that has ended is not repeated when the caller
    is resumed, and one that was cut off goes on.

    Args:
        agent: the caller.
        name: whom to consult: an agent's name, or the path of a character file.
        key: which consultation this is, once a run; also the name of its folder.
        about: what is asked of it, in a sentence, for the record.
        changes: fields of the character that differ this time, such as `{"intention": "..."}`.
        user: who may speak up while it works; by default nobody does.

    Raises:
        BadInput: a change does not fit the character, the caller has no steps left, or agents consult one
            another without end.
        VirlError: whatever the other agent's routine raises; the caller can be resumed.
    """
    if noted := agent.run.find_note(TOPIC, key):
        return Result.model_validate(noted.data["result"])
    with account(f"{CONSULTED}/{key}") as own_account:
        result, turns = _run_consulted(agent, name, key, changes or {}, own_account, user)
    agent.run.note(
        TOPIC,
        key,
        f"{about} {result.reason}".strip(),
        data={
            "agent": name,
            "folder": f"{CONSULTED}/{key}",
            "result": result.model_dump(mode="json"),
            "turns": turns,
        },
        asked=(),
        cost=result.cost,
    )
    return result


def steps_taken(run: Run) -> int:
    """Return the number of moves between panoramas in a run so far, including those of consulted agents."""
    nested = (Result.model_validate(note.data["result"]).steps for note in run.notes(TOPIC))
    return (run.steps[-1].step if run.steps else 0) + sum(nested)


def turns_taken(notes: Callable[[str], Sequence[NoteRecord]]) -> int:
    """Return the number of a model's turns, consulted agents included; `notes` gives those of a topic."""
    counts = [note.data.get("replies", 1) for topic in (THOUGHT, LOST) for note in notes(topic)]
    return sum(int(str(count)) for count in counts) + turns_elsewhere(notes(TOPIC))


def turns_elsewhere(consultations: Sequence[NoteRecord]) -> int:
    """Return the number of model turns of consulted agents, by the caller's notes on consultations."""
    # Journals of earlier versions of virl do not tell the turns.
    return sum(int(str(note.data.get("turns", 0))) for note in consultations)


def _run_consulted(
    caller: Agent, name: str, key: str, changes: Mapping[str, object], own_account: str, user: User | None
) -> tuple[Result, int]:
    """Run or resume agent `name` in subfolder `key`, paid as `own_account`; return (result, model turns)."""
    source = find_character(name)
    folder = caller.run.folder / CONSULTED / key
    # Each consulted run lies in a folder of its caller's: the path tells how long the chain is.
    if folder.parts.count(CONSULTED) > DEPTH:
        raise BadInput(
            f"{caller.run.start.agent} consults {name}: more than {DEPTH} agents consult each other in a "
            "chain: let one of them act without `consult`"
        )
    loaded = LoadedCharacter(source, _apply_changes(caller, load_character(source), changes))
    fresh = _start_record(caller, loaded)
    journal, done = Journal.open(folder, fresh)
    with journal:
        if ended := ended_before(folder, done, caller.city, caller.run.ledger, own_account):
            notes = [one for one in done if isinstance(one, NoteRecord)]
            return ended, turns_taken(lambda topic: [one for one in notes if one.topic == topic])
        mind = caller.mind.with_own_ledger()  # its questions are the nested run's
        start = next((one for one in done if isinstance(one, StartRecord)), fresh)
        before, moved = replace_missing_panoramas(done, caller.city, caller.run.start.mover)
        run = Run(
            journal,
            start,
            before,
            city=caller.run.city,
            audience=caller.run.nested_audience(),
            data=caller.city,
            ledger=mind.ledger,
            account=own_account,
        )
        run.note_resumed(done, moved)
        assembly = assemble(
            loaded, caller.city, mind, caller.models, caller.mover, first_position=first_position(done)
        ).with_prompts(caller.run.start.prompts)
        result = perform(assembly.agent(run, user))
        write_report(folder, caller.city)
        return result, turns_taken(run.notes)


def _start_record(caller: Agent, loaded: LoadedCharacter) -> StartRecord:
    """Return the start record of a consulted agent's run."""
    return caller.run.start.model_copy(
        update={
            "virl": code_version(),
            "agent": loaded.source.stem,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "id": f"{caller.run.start.id}/{loaded.source.stem}",
            "caller": caller.run.start.agent,
            "feedback": None,
            "routine": loaded.routine.registry_name,
            "character": loaded.character.model_dump(mode="json"),
        }
    )


def _apply_changes(caller: Agent, character: Character, changes: Mapping[str, object]) -> Character:
    """Return a consulted character with `changes`, the caller's city, and at most the caller's moves left."""
    left = caller.character.limits.steps - steps_taken(caller.run)
    if left < 1:
        raise BadInput(f"{caller.run.start.agent}: no steps left: increase `limits: steps`")
    data = character.model_dump() | {"city": caller.character.city} | dict(changes)
    limits = data["limits"] | {"steps": min(data["limits"]["steps"], left)}
    if character.lives_by_tools and caller.character.lives_by_tools:
        turns = caller.character.limits.calls - turns_taken(caller.run.notes) - 1  # the caller has the last
        if turns < 1:
            raise BadInput(f"{caller.run.start.agent}: no turns left: increase `limits: calls`")
        limits["calls"] = min(limits["calls"], turns)
    data["limits"] = limits
    source = f"{character.name}, consulted by {caller.character.name}"
    return check_settings(data, type(character), source=source)
