"""Data of calls that a run made before it was cut off."""

from pydantic import ValidationError

from virl.agent.consult import TOPIC as CONSULTATION
from virl.agent.tool import TOOLS, ToolData
from virl.errors import VirlError
from virl.journal.records import NoteRecord
from virl.tools.body import Body


def recorded_data(body: Body, note: NoteRecord) -> ToolData | None:
    """Return the data of a recorded call.

    Journals of earlier versions of virl have only the text. Such a call is made again, where it was made: the
    city answers the same. A call that would ask a model, or a service that charges, is not; its data stay
    unknown, and the rules go on as if it had found nothing. Consultations have their own record.

    Args:
        body: stands where it stood before the call.
        note: of the call.
    """
    try:
        tool = TOOLS.find(str(note.data["name"]))
        if "data" in note.data or note.data["failed"]:
            data = note.data.get("data")
            return None if data is None else tool.returns.model_validate(data)
        costs = tool.asks_model or (tool.asks_services and body.agent.city.meter is not None)
        if costs and not body.agent.run.noted(CONSULTATION, note.key):
            return None
        body.keeps_views = False
        return tool.act(body, tool.arguments.model_validate(note.data["args"])).data
    except (ValidationError, VirlError):
        return None
    finally:
        body.keeps_views = True
