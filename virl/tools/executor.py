"""The use of tools by whoever decides: each use is written into the run, which goes on after a kill."""

from itertools import count
from typing import Any

from virl.agent.consult import TOPIC as CONSULTATION
from virl.agent.run import Run
from virl.agent.tool import FINISH, Arguments
from virl.errors import BudgetExceeded, CannotWrite, CodeFault, JournalBroken, VirlError
from virl.journal.folder import CONSULTED
from virl.journal.records import NoteRecord, PlaceRecord
from virl.mind.cache import plain_json
from virl.platform.city.outcome import Outcome
from virl.tools.base import ToolResult, short
from virl.tools.body import Body, BodyState
from virl.tools.catalogue import use
from virl.tools.claiming import claims_of
from virl.tools.task import NOTEBOOK, finish

TOPIC = "tool"
"""Topic of the notes."""


class RecordingExecutor:
    """A user of tools that writes down each use.

    In a run that goes on, the body stands where it had got to, and a `finish` that was cut off ends the run.

    Args:
        body: what the tools move.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        run = body.agent.run
        notes = run.notes(TOPIC)
        self._uses = count(1 + _uses_so_far(run))
        standing = next((note.data["standing"] for note in reversed(notes) if "standing" in note.data), None)
        body.go_on(None if standing is None else BodyState.model_validate(standing))
        if notes and run.result is None and _finishes(notes[-1]):
            self._end(notes[-1])

    def __call__(self, name: str, asked: Arguments) -> ToolResult[Any]:
        """Call the tool, and return its result or why it could not be done.

        Raises:
            BudgetExceeded: the run's money is spent.
            CannotWrite, JournalBroken: the run cannot be written down.
            CodeFault: an agent that was consulted has a bug.
        """
        body, run = self._body, self._body.agent.run
        if run.result is not None:
            return ToolResult("the run has ended: no tool can be used any more", failed=True)
        body.doing = str(next(self._uses))
        try:
            told: ToolResult[Any] = use(body, name, asked)
        except (BudgetExceeded, CannotWrite, CodeFault, JournalBroken):
            raise
        except VirlError as fault:
            told = ToolResult(str(fault), failed=True)
        note = run.note(
            TOPIC,
            body.doing,
            short(f"{name}: {told.text}", 300),
            data={
                "name": name,
                "arguments": asked.model_dump(mode="json"),
                "failed": told.failed,
                "place": told.place and told.place.model_dump(mode="json"),
                "standing": body.standing.model_dump(),
                **plain_json({"data": told.data_as_json}),
            },
            asked=(),
            views=told.views,
        )
        if _finishes(note):
            self._end(note)
        return told

    def _end(self, note: NoteRecord) -> None:
        asked = finish.arguments.model_validate(note.data["arguments"]).model_dump()
        place = note.data["place"]
        ended = Outcome("finished" if asked["succeeded"] else "gave up", asked["answer"])
        chosen = None if place is None else PlaceRecord.model_validate(place)
        self._body.stop(ended)
        self._body.agent.run.end(
            ended,
            chosen,
            answer={"answer": asked["answer"], "succeeded": asked["succeeded"]},
            claims=claims_of(self._body.agent, chosen, self._body.agent.run.notes(TOPIC)),
        )


def _finishes(note: NoteRecord) -> bool:
    return note.data.get("name") == FINISH and note.data.get("failed") is False


def _uses_so_far(run: Run) -> int:
    """Return the highest number of a use, also of one that was cut off."""
    keys = [note.key for topic in (TOPIC, NOTEBOOK, CONSULTATION) for note in run.notes(topic)]
    keys += [folder.name for folder in (run.folder / CONSULTED).glob("*")]
    return max((int(key) for key in keys if key.isdecimal()), default=0)
