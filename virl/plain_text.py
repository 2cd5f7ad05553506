"""Text from the world without what steers a terminal, hides, or turns the reading order around.

Names, reviews, signs, error messages and replies may hold anything. What leaves virl, to a terminal, a
prompt or a page, goes through here.
"""

import json
import re
import unicodedata
from collections.abc import Callable, Mapping
from html import escape

_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"  # OSC, DCS
    r"|\x1b[ -/]*[0-~]?"
)
"""Pattern of terminal escape sequences (ECMA-48); of one after ESC without an end, only the start.

Such a one must not take what virl says after it."""

_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f"  # C0 and C1
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"  # soft hyphen, bidi controls, fillers
    "\ufeff\ufff9-\ufffb\ud800-\udfff"  # marks, surrogates
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"  # and tags
)
"""Pattern of invisible characters, except the joiners U+200C and U+200D that Persian and emoji need."""

_UNSAFE_JSON = re.compile(f"{_HIDDEN.pattern[:-1]}\u2028\u2029]")


def plain_lines(text: str) -> str:
    """Return a text without hidden and control characters; tabs and newlines stay."""
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub("", _BREAKS.sub("\n", _ESCAPES.sub("", text)))


def plain_line(text: str) -> str:
    """Return a text on one line, without hidden and control characters; breaks and tabs become spaces."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(r"[\t\n]+", " ", plain_lines(text))


def html_line(value: object) -> str:
    """Return a value as text on one line, as `plain_line` does, escaped for HTML and SVG."""
    return escape(plain_line(str(value)))


def plain_json(text: str) -> str:
    """Return JSON with its hidden and control characters written as escapes."""
    return _UNSAFE_JSON.sub(lambda hidden: json.dumps(hidden[0])[1:-1], text)


def whole_text(text: str) -> str:
    """Return a text that UTF-8 can store: surrogate pairs are joined, lone surrogates become U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def plain_tree(data: object, each: Callable[[str], str] = plain_lines) -> object:
    """Return nested plain data with the function `each` applied to all its texts and names."""
    if isinstance(data, str):
        return each(data)
    if isinstance(data, Mapping):
        return {plain_tree(name, each): plain_tree(value, each) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [plain_tree(value, each) for value in data]
    return data


def slug(name: str) -> str:
    """Return a name in lower case for file names, such as "zoe-k" for "Zoë K"; other scripts stay."""
    bare = ""
    for letter in name.lower():
        # Only Latin letters lose their accents: in other scripts the marks are letters.
        parts = unicodedata.normalize("NFKD", letter)
        bare += parts[0] if parts[:1].isascii() else letter
    return re.sub(r"[^\w-]+", "-", bare).strip("-")


def capitalize(text: str) -> str:
    """Return a text that begins with a capital letter, otherwise unchanged."""
    return text[:1].upper() + text[1:]


def shorten(text: str, length: int) -> str:
    """Return a text of at most `length` characters, cut with an ellipsis after a word if it is longer."""
    if len(text) <= length:
        return text
    words = text[:length].rpartition(" ")[0]
    return (words if 2 * len(words) >= length else text[: length - 1]).rstrip() + "…"
