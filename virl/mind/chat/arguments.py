"""Arguments of tool calls as models write them."""

import json
from typing import Any

JsonObject = dict[str, Any]


def breaks_off(text: str | None) -> bool:
    """Return whether a text is the beginning of JSON, without its end."""
    try:
        json.loads(text or "{}", strict=False)
    except json.JSONDecodeError as fault:
        return fault.pos >= len(fault.doc.rstrip()) or fault.msg.startswith("Unterminated")
    except (ValueError, RecursionError):  # a number of too many digits
        return False
    return False


def is_finite(args: JsonObject) -> bool:
    """Return whether arguments hold no infinite number and no NaN, which JSON lacks and servers refuse."""
    try:
        json.dumps(args, allow_nan=False)
    except ValueError:
        return False
    return True


def as_object(given: Any) -> JsonObject | str:
    """Return arguments as an object, also where they were encoded twice; else the text that is none.

    Nothing at all, and `null`, stand for a call without arguments.
    """
    found, text = given, given
    for _ in range(2):
        if not isinstance(found, str):
            break
        text = found
        if not found.strip():
            return {}
        try:
            found = json.loads(found, strict=False)
        except (ValueError, RecursionError):
            return text
    if found is None:
        return {}
    return found if isinstance(found, dict) else f"{json.dumps(found)} is no JSON object"
