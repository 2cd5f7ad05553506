"""The questions to VELMA's mind, for landmarks and for the next action; and whole walks as it sees them."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from virl.errors import BadInput
from virl.files.json_reading import read_json_file
from virl.mind.base import Mind, Prompt
from virl.mind.prompt import load_prompt, render
from virl.mind.replies import Text
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.movers.discrete.oracle import walk_states
from virl.platform.navigators.instruction.base import PromptForm, in_chat
from virl.platform.navigators.velma.rules import VelmaAction, VelmaLandmarks, ask_until_read
from virl.platform.navigators.velma.verbalizer import Observer, WalkText, Wording, sentence, walk_text

MAX_INSTRUCTION = 6_000  # characters; chosen: three times the longest of Touchdown (2,067) and Map2seq
"""Largest number of characters of an instruction that are read."""
_BLANKS = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Example:
    """A finished walk that is shown to the mind before the walk in question."""

    instruction: str
    walk: str
    """Text of the walk, with its actions."""
    steps: tuple[tuple[str, str], ...] = ()
    """(observation, action) of each step in order, for chat minds; other minds get `walk`."""


@cache
def action_prompt() -> Prompt[Text]:
    """Return the prompt `movement/velma-action`, which is one text to continue."""
    return load_prompt("movement/velma-action", Text)


def action_inputs(
    instruction: str, walk: str, examples: Sequence[Example] = (), *, refused: int = 0
) -> dict[str, Any]:
    """Return the inputs of `movement/velma-action`, with the number of replies `refused` before.

    Args:
        instruction: text as the data set gives it.
        walk: text of the walk so far.
        examples: worked walks to show, in this order.
        refused: number of replies to this very question that named no action.
    """
    return {
        "actions": [action.value for action in Action],
        "examples": [
            {"instruction": tidy(example.instruction), "walk": example.walk} for example in examples
        ],
        "instruction": tidy(instruction),
        "refused": refused,
        "walk": walk,
    }


@cache
def chat_prompt() -> Prompt[VelmaAction]:
    """Return the prompt `movement/velma-chat`, which is messages."""
    return load_prompt("movement/velma-chat", VelmaAction)


def chat_inputs(
    instruction: str, told: Sequence[str], replies: Sequence[VelmaAction], examples: Sequence[Example] = ()
) -> dict[str, Any]:
    """Return the inputs of `movement/velma-chat`: observations `told`, the start first, and the replies.

    Args:
        instruction: text as the data set gives it.
        told: sentences on the start and on the state after each action; one more than there are replies.
        replies: replies with the actions so far.
        examples: worked walks to show, in this order.
    """
    steps = zip(replies, told[1:], strict=True)
    return {
        "examples": [
            {
                "instructions": tidy(example.instruction),
                "walk": [{"observed": seen, "action": action} for seen, action in example.steps],
            }
            for example in examples
        ],
        "instruction": tidy(instruction),
        "opening": told[0],
        "steps": [{"reply": reply.model_dump(mode="json"), "observation": seen} for reply, seen in steps],
    }


def action_text(instruction: str, walk: str, examples: Sequence[Example] = ()) -> str:
    """Return the text that a model is sent for its next action, which ends with the walk so far.

    Args:
        instruction: text as the data set gives it.
        walk: text of the walk so far.
        examples: worked walks to show before it.
    """
    return render(action_prompt(), action_inputs(instruction, walk, examples)).rstrip()


def tidy(instruction: str) -> str:
    """Return an instruction as valid Unicode on one line, cut after `MAX_INSTRUCTION` characters."""
    # Half a surrogate pair, as broken files have, could not be sent.
    valid = instruction.encode("utf-8", "replace").decode("utf-8")
    return _BLANKS.sub(" ", valid).strip()[:MAX_INSTRUCTION]


LandmarkExtractor = Callable[[str], tuple[str, ...]]
"""A function that returns the names of the landmarks in an instruction."""
MAX_LANDMARKS = 20  # of an instruction; chosen: the paper counts 2.7 on average
"""Largest number of landmarks of an instruction that are looked for."""
MAX_NAME = 80  # characters; chosen
"""Largest number of characters of a landmark's name."""
_ITEM = re.compile(r"^\W{0,3}(\d{1,3})[.)]\s*(.*)$")
_NEVER = ("intersection", "side street")
_BARE = re.compile(
    r"(?:(?:a|an|the|one|two|\d+) )?(?:set of )?(?:(?:traffic|double|stop|street) ?)?lights?"
    r"|(?:(?:a|the) )?(?:large )?building|none"
)
_QUOTES = " \t\"'`*.,;:"


def mind_landmarks(mind: Mind, form: PromptForm = "auto") -> LandmarkExtractor:
    """Return a function that asks a mind for the landmarks in an instruction; none for an empty one.

    The prompt is `movement/velma-landmarks`, for chat models `movement/velma-landmarks-chat`. The extractor
    raises `MindFailed` where no reply holds a list.
    """
    prompt = load_prompt("movement/velma-landmarks", Text)
    typed = load_prompt("movement/velma-landmarks-chat", VelmaLandmarks)

    def extract(instruction: str) -> tuple[str, ...]:
        """Return the landmarks that the mind finds in an instruction; none for an empty one."""
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
    """Return a function that looks up an instruction's landmarks by its text; none for an unknown one."""
    by_text = {tidy(instruction): found for instruction, found in names.items()}
    return lambda instruction: by_text.get(tidy(instruction), ())


def read_landmarks(file: Path) -> dict[str, tuple[str, ...]]:
    """Return landmarks by episode id from a JSON file such as `landmarks_dev.json`, via `filter_landmarks`.

    Raises:
        BadInput: the file cannot be read, or holds something else than lists of names by id.
    """
    data = read_json_file(file)
    if not isinstance(data, dict):
        raise BadInput(f"{file}: must be a JSON object with a list of names for each episode id")
    for episode, names in data.items():
        if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
            raise BadInput(f"{file}: the landmarks of episode {episode!r} must be a list of names")
    return {str(episode): filter_landmarks(names) for episode, names in data.items()}


def parse_landmarks(reply: str) -> tuple[str, ...] | None:
    """Return the landmarks in a reply's list numbered 1, 2, 3 ...; `None` if there is no such list.

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
    """Return the names that are worth looking for, in their order, at most `MAX_LANDMARKS`.

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


def transcript(
    observer: Observer,
    instruction: str,
    start: WalkState,
    actions: Sequence[Action],
    *,
    landmarks: Sequence[str] = (),
    examples: Sequence[Example] = (),
    wording: Wording = "paper",
) -> WalkText:
    """Return a walk's text as `VelmaNavigator` builds it; the text before each action is its prompt.

    Args:
        observer: observes each state of the walk.
        instruction: text as the data set gives it.
        start: state where the walk begins.
        actions: actions as carried out, an opening forward and the stop included.
        landmarks: names to look out for.
        examples: worked walks to show before it.
        wording: wording of the sentences on landmarks.
    """
    walk = walk_so_far(observer, start, actions, landmarks=landmarks, wording=wording)
    text = action_text(instruction, walk.text, examples)
    offset = len(text) - len(walk.text)
    return WalkText(text, tuple((offset + first, offset + end) for first, end in walk.action_spans))


def walk_so_far(
    observer: Observer,
    start: WalkState,
    actions: Sequence[Action],
    *,
    landmarks: Sequence[str] = (),
    wording: Wording = "paper",
) -> WalkText:
    """Return a walk as text, which ends in the number of the next action unless the walk has stopped.

    Args:
        observer: observes each state of the walk.
        start: state where the walk begins.
        actions: actions so far.
        landmarks: names to look out for.
        wording: wording of the sentences on landmarks.
    """
    return walk_text(observed_so_far(observer, start, actions, landmarks=landmarks, wording=wording), actions)


def observed_so_far(
    observer: Observer,
    start: WalkState,
    actions: Sequence[Action],
    *,
    landmarks: Sequence[str] = (),
    wording: Wording = "paper",
) -> list[str]:
    """Return a sentence on the start of a walk and one on the state after each action but a stop.

    Args:
        observer: observes each state of the walk.
        start: state where the walk begins.
        actions: actions so far.
        landmarks: names to look out for.
        wording: wording of the sentences on landmarks.
    """
    states = walk_states(observer.graph, start, actions)
    # Nothing is observed after a stop.
    if actions and actions[-1] is Action.STOP:
        states.pop()
    observed = [
        observer.start(start, landmarks),
        *(observer.observe(state, landmarks) for state in states[1:]),
    ]
    return [sentence(observation, wording) for observation in observed]
