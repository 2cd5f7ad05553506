"""Data of calls that a run made before it was cut off."""

from pydantic import ValidationError

from virl.agent.consult import TOPIC as CONSULTATION
from virl.agent.tool import TOOLS, ToolData
from virl.errors import VirlError
from virl.journal.records import NoteRecord
from virl.mind.rules import RuleMind
from virl.tools.base import ToolResult
from virl.tools.body import Body


def recorded_data(body: Body, note: NoteRecord) -> ToolData | None:
    """Return the data of a recorded call.

    Journals of earlier versions of virl have only the text. Such a call is made again, where it was made: the
    city answers the same, and so do the senses. A call that may ask a language model, or a service that
    charges, is not; its data stay unknown, and the rules go on as if it had found nothing. Consultations have
    their own record.

    Args:
        body: stands where it stood before the call.
        note: of the call.
    """
    try:
        tool = TOOLS.find(str(note.data["name"]))
        if "data" in note.data or note.data["failed"]:
            data = note.data.get("data")
            return None if data is None else tool.returns.model_validate(data)
        agent = body.agent
        paid = tool.asks_services and agent.city.ledger is not None
        asks = tool.asks_model and not isinstance(agent.mind, RuleMind)
        if (paid or asks) and not agent.run.noted(CONSULTATION, note.key):
            return None
        body.keeps_views = False
        result: ToolResult[ToolData] = tool.act(body, tool.arguments.model_validate(note.data["args"]))
    except (ValidationError, VirlError):
        return None
    finally:
        body.keeps_views = True
    return result.data
