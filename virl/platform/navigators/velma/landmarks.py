"""The landmarks of an instruction: asked of a mind, or read from a file."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from virl.errors import BadInput
from virl.files.json_reading import read_json_file
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.platform.navigators.instruction.base import PromptForm, in_chat
from virl.platform.navigators.velma.prompt import tidy
from virl.platform.navigators.velma.rules import VelmaLandmarks, ask_until_read

LandmarkExtractor = Callable[[str], tuple[str, ...]]
"""A function that returns the landmarks which an instruction names."""

MAX_LANDMARKS = 20  # of an instruction; chosen: the paper counts 2.7 on average
"""Landmarks of an instruction at most."""
MAX_NAME = 80  # characters; chosen
"""Characters of a landmark's name at most."""

_ITEM = re.compile(r"^\W{0,3}(\d{1,3})[.)]\s*(.*)$")
_NEVER = ("intersection", "side street")
_BARE = re.compile(
    r"(?:(?:a|an|the|one|two|\d+) )?(?:set of )?(?:(?:traffic|double|stop|street) ?)?lights?"
    r"|(?:(?:a|the) )?(?:large )?building|none"
)
_QUOTES = " \t\"'`*.,;:"


def mind_landmarks(mind: Mind, form: PromptForm = "auto") -> LandmarkExtractor:
    """Return an extractor of landmarks that asks a mind; an empty instruction is not asked about.

    The prompt is `movement/velma-landmarks`, for chat models `movement/velma-landmarks-chat`. The extractor
    raises `MindFailed` where no reply holds a list.
    """
    prompt = load_prompt("movement/velma-landmarks", Text)
    typed = load_prompt("movement/velma-landmarks-chat", VelmaLandmarks)

    def extract(instruction: str) -> tuple[str, ...]:
        text = tidy(instruction)
        if not text:
            return ()
        if in_chat(form, mind):
            return filter_landmarks(mind.ask(typed, instruction=text).names)
        names, _ = ask_until_read(
            lambda refused: mind.ask(prompt, instruction=text, refused=refused).text,
            parse_landmarks,
            "landmarks",
        )
        return names

    return extract


def known_landmarks(names: Mapping[str, tuple[str, ...]]) -> LandmarkExtractor:
    """Return an extractor that looks landmarks up by the instruction, none for an unknown one."""
    by_text = {tidy(instruction): found for instruction, found in names.items()}
    return lambda instruction: by_text.get(tidy(instruction), ())


def read_landmarks(file: Path) -> dict[str, tuple[str, ...]]:
    """Read a JSON object of lists of names by episode id, such as `landmarks_dev.json`, and filter them.

    Raises:
        BadInput: the file cannot be read or holds something else.
    """
    data = read_json_file(file)
    if not isinstance(data, dict):
        raise BadInput(f"{file}: must be a JSON object with a list of names for each episode id")
    for episode, names in data.items():
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise BadInput(f"{file}: the landmarks of episode {episode!r} must be a list of names")
    return {str(episode): filter_landmarks(names) for episode, names in data.items()}


def parse_landmarks(reply: str) -> tuple[str, ...] | None:
    """Return the names in a numbered list that counts 1, 2, 3 ...; `None` if there is no such list.

    Lines without a number are passed over; a number out of order ends the list. "none" is an empty list.
    """
    names: list[str] = []
    for line in reply.splitlines():
        item = _ITEM.match(line.strip())
        if item and int(item[1]) == len(names) + 1:
            names.append(item[2])
        elif item and names:
            break
    if not names and reply.strip(f"{_QUOTES}\n").lower() != "none":
        return None
    return filter_landmarks(names)


def filter_landmarks(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names worth looking for, in their order, at most `MAX_LANDMARKS`.

    Left out: crossings and side streets, bare lights, a building without more, empty names, repeats. Each is
    one line of at most `MAX_NAME` characters.
    """
    kept: dict[str, str] = {}
    for name in names:
        clean = tidy("".join(character if character.isprintable() else " " for character in name))
        clean = clean.strip(_QUOTES)[:MAX_NAME].strip()
        key = clean.lower()
        if key and not _BARE.fullmatch(key) and not any(word in key for word in _NEVER):
            kept.setdefault(key, clean)
    return tuple(kept.values())[:MAX_LANDMARKS]
