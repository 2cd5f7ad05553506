"""`NavGptNavigator`: reasons and acts with one tool, from viewpoint to viewpoint (NavGPT, 2023)."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, NamedTuple

from virl.errors import BadInput
from virl.geo.globe import signed_turn
from virl.mind.base import Mind
from virl.mind.prompt import load_prompt
from virl.mind.replies import Text
from virl.platform.city.graph import NavigationGraph
from virl.platform.city.streetview import Link
from virl.platform.movers.discrete.actions import Action, WalkState
from virl.platform.navigators.instruction.base import Move, PromptForm, in_chat
from virl.platform.navigators.navgpt.observation import (
    Observations,
    ViewpointObservation,
    observation_parts,
    observation_text,
    side,
    stand,
)
from virl.platform.navigators.navgpt.rules import (
    Finish,
    GoTo,
    Malformed,
    NavGptTurn,
    own_words,
    read_reply,
    thought_of,
)

MOST_TURNS = 24
"""Largest number of earlier turns of a chat that are sent. Chosen: more than a walk of R2R has."""
FORGOTTEN = 8
"""Number of a chat's oldest turns dropped at a time, so that its beginning stays cached between. Chosen."""

Facts = dict[str, Any]
"""Plain data by name, as inputs of a prompt."""
MAX_STEPS = 10
"""Largest number of replies in an episode, refused ones included (as in NavGPT's published code)."""
MAX_SUMMARY = 400
"""Largest number of characters of a viewpoint's summary. Chosen: a long sentence."""
_MAX_SCRATCHPAD = 7000
"""Largest number of characters of thoughts and observations shown (as in NavGPT's published code)."""
_MAX_REPLY = 1500
"""Largest number of characters of a reply that are shown. Chosen: several times a thought and action."""


@dataclass(slots=True)
class _Step:
    """A reply of the model, with the observation that followed it."""

    reply: str
    observation: str
    view: str = ""
    """Observation of the viewpoint arrived at, shown after `observation`; empty once the walker has left."""

    @property
    def observation_text(self) -> str:
        """Observation as the prompt shows it, with the view if there is one."""
        return f"{self.observation}\n{self.view}" if self.view else self.observation


class ShownHistory(NamedTuple):
    """The part of a history that is shown to the model."""

    opening: str
    """The observation at the start, or its summary."""
    steps: list[dict[str, str]]
    """`reply` and `observation` of each step, the oldest first."""
    left_out: int
    """Number of earlier steps that are not shown."""


@dataclass(slots=True)
class Scratchpad:
    """A history of one walk as text, which is shortened as the walk goes on.

    Only the observation of where the walker stands is told whole; when it goes on, the turn, the viewpoint's
    id and a summary take its place (section 3.4, appendix A.2). Beyond `_MAX_SCRATCHPAD` characters the
    oldest steps are left out whole; the observation of where the walker stands, and what came after it,
    never are.
    """

    _opening: str
    """Observation at the start, or the text that has replaced it."""
    _view: str
    """Whole observation at the start; empty once the walker has left."""
    _steps: list[_Step] = field(default_factory=list)

    def note_refusal(self, reply: str, fault: str) -> None:
        """Record a reply that could not be carried out, and its fault in words for the model."""
        self._steps.append(_Step(_shorten(reply), fault))

    def note_move(self, reply: str, left: str, arrival: str, view: str) -> None:
        """Record a move: the model's reply, a summary of the viewpoint left, the arrival and the view there.

        Args:
            reply: text that the model wrote.
            left: summary of the viewpoint that was left; may be empty.
            arrival: text on the turn that was made, and where it led.
            view: text of the whole observation there.
        """
        here = next((step for step in self._steps if step.view), None)
        if here is None:
            self._opening, self._view = _join(self._opening, left), ""
        else:
            here.observation, here.view = _join(here.observation, left), ""
        self._steps.append(_Step(_shorten(reply), arrival, view))

    def history(self) -> ShownHistory:
        """Return the part of the history that is shown: the opening, and the latest steps that fit."""
        here = next((index for index, step in enumerate(self._steps) if step.view), 0)
        room = _MAX_SCRATCHPAD - sum(map(_length, self._steps[here:]))
        first = here
        while first > 0 and room >= _length(self._steps[first - 1]):
            first -= 1
            room -= _length(self._steps[first])
        steps = self._steps[first:]
        return ShownHistory(
            f"{self._opening}\n{self._view}" if self._view else self._opening,
            [{"reply": step.reply, "observation": step.observation_text} for step in steps],
            first,
        )


@dataclass(slots=True)
class ChatHistory:
    """A history of one walk for chat models, which only grows, so that providers can cache it."""

    opening: Facts
    """Viewpoint and view at the start, by name."""
    turns: list[Facts] = field(default_factory=list)
    """`reply` of the model and `observation` of its result for each turn, the oldest first."""

    def note_move(self, reply: NavGptTurn, arrival: Facts) -> None:
        """Record a move: the model's reply, and the observation where it led."""
        self.turns.append({"reply": reply.model_dump(), "observation": arrival})

    def inputs(self, instruction: str) -> dict[str, Any]:
        """Return the inputs of the prompt `movement/navgpt-chat`."""
        over = max(0, len(self.turns) - MOST_TURNS)
        # In blocks: the beginning stays the same for many turns, so that providers can cache it.
        left_out = -(-over // FORGOTTEN) * FORGOTTEN
        return {
            "instruction": instruction,
            "opening": self.opening,
            "left_out": left_out,
            "steps": self.turns[left_out:],
        }


@dataclass(eq=False)
class NavGptNavigator:
    """A navigator that asks a mind for a thought and an action at each viewpoint, and walks there.

    Nothing is kept from one walk to the next. Only viewpoints that a way leads to can be gone to; a reply
    that names another, or none, is told what is wrong with it and counts as a step.

    Raises:
        BadInput: `max_steps` is below 1.
    """

    graph: NavigationGraph
    mind: Mind
    """Mind that answers `movement/navgpt-step`, or `movement/navgpt-chat`, and `movement/navgpt-summary`."""
    observations: Observations
    """Source of what is seen at the viewpoints of the graph."""
    _: KW_ONLY
    max_steps: int = MAX_STEPS
    """Largest number of replies in an episode, refused ones included; at least 1."""
    form: PromptForm = "auto"

    def __post_init__(self) -> None:
        """Check the limit, and load the prompts."""
        if self.max_steps < 1:
            raise BadInput(f"a walk of {self.max_steps} steps: must be at least 1")
        self._ids = frozenset(self.graph.ids)
        self._in_chat = in_chat(self.form, self.mind)
        self._chat_prompt = load_prompt("movement/navgpt-chat", NavGptTurn)
        self._step_prompt = load_prompt("movement/navgpt-step", Text)
        self._summary_prompt = load_prompt("movement/navgpt-summary", Text)

    @property
    def name(self) -> str:
        """Name of the navigator in results, such as `"navgpt --observations graph, chat"`."""
        return f"navgpt --observations {self.observations.name}{', chat' if self._in_chat else ''}"

    def walk(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk, each to a viewpoint; the last is always a stop.

        At the limit of steps the walk ends where it is, and the reason of the last move says so.

        Raises:
            MindFailed: the model gave no reply within its retries.
            NoImagery: a viewpoint has no picture where the observations need one.
        """
        yield from (self._walk_in_chat if self._in_chat else self._walk_as_text)(instruction, start)

    def _walk_in_chat(self, instruction: str, state: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk on which the mind is asked by messages."""
        here = self._observe(state)
        stands = [stand(here, state.heading)]
        opening = {"viewpoint": here.viewpoint, "view": observation_parts(here, state.heading)}
        history = ChatHistory(opening)
        for replies_left in reversed(range(self.max_steps)):
            reply = self.mind.ask(
                self._chat_prompt, rule_inputs={"stands": stands}, **history.inputs(instruction)
            )
            if reply.action == "finish":
                yield _stop(state, reply.thought, [])
                return
            way = next(way for way in here.ways if way.pano_id == reply.viewpoint)
            before, state = state, WalkState(self.graph.number(way.pano_id), way.heading, state.node)
            yield Move(way.pano_id, state, reason=reply.thought)
            if replies_left:
                here = self._observe(state)
                stands.append(stand(here, state.heading))
                arrival: Facts = {
                    "turned": side(before.heading, way.heading),
                    "walked_m": round(way.distance, 2),
                    "viewpoint": here.viewpoint,
                    "view": observation_parts(here, way.heading),
                }
                history.note_move(reply, arrival)
        yield _stop(state, f"the limit of {self.max_steps} steps is reached", [])

    def _walk_as_text(self, instruction: str, start: WalkState) -> Iterator[Move]:
        """Yield the moves of a walk on which the mind is asked by one text, as published."""
        state, refused = start, list[str]()
        here = self._observe(state)
        stands = [stand(here, state.heading)]
        first = f"Not moved yet. At viewpoint {here.viewpoint}, facing {state.heading:.2f} degrees."
        scratchpad = Scratchpad(first, observation_text(here, state.heading))
        for replies_left in reversed(range(self.max_steps)):
            opening, steps, left_out = scratchpad.history()
            asked = self.mind.ask(
                self._step_prompt,
                rule_inputs={"stands": stands},
                instruction=instruction,
                opening=opening,
                steps=steps,
                left_out=left_out,
            )
            reply = own_words(asked.text)
            wish = self._resolve_wish(read_reply(reply, self._ids), here)
            if isinstance(wish, Malformed):
                refused.append(reply)
                scratchpad.note_refusal(reply, wish.fault)
                continue
            if isinstance(wish, Finish):
                yield _stop(state, thought_of(reply), refused)
                return
            before, state = state, WalkState(self.graph.number(wish.pano_id), wish.heading, state.node)
            yield Move(wish.pano_id, state, reason=thought_of(reply), refused=tuple(refused))
            refused = []
            if replies_left:
                left, here = here, self._observe(state)
                stands.append(stand(here, state.heading))
                view = observation_text(here, state.heading)
                scratchpad.note_move(reply, self._summary(left), _describe_arrival(before, wish), view)
        yield _stop(state, f"the limit of {self.max_steps} steps is reached", refused)

    def _observe(self, state: WalkState) -> ViewpointObservation:
        """Return the observation at the viewpoint where a state stands."""
        return self.observations.at(self.graph.ids[state.node])

    def _resolve_wish(
        self, wish: GoTo | Finish | Malformed, here: ViewpointObservation
    ) -> Link | Finish | Malformed:
        """Return the link that a wish takes from here, the wish to finish, or what is wrong with the wish."""
        if not isinstance(wish, GoTo):
            return wish
        way = next((way for way in here.ways if way.pano_id == wish.viewpoint), None)
        if way is not None:
            return way
        if not here.ways:
            return Malformed(f"Not moved: no way leads on from viewpoint {here.viewpoint}.")
        valid = ", ".join(way.pano_id for way in here.ways)
        fault = "is not next to this one" if wish.viewpoint in self._ids else "does not exist"
        return Malformed(
            f"Not moved: viewpoint {wish.viewpoint[:80]} {fault}. You can go to one of these: {valid}."
        )

    def _summary(self, left: ViewpointObservation) -> str:
        """Return a sentence on the viewpoint `left`, stored or from the mind; empty without texts of it."""
        if left.summary or not any(left.sentences):
            return left.summary
        reply = self.mind.ask(self._summary_prompt, description="\n".join(left.sentences))
        return " ".join(reply.text.split())[:MAX_SUMMARY]


def _stop(state: WalkState, reason: str, refused: list[str]) -> Move:
    """Return the move that ends a walk at its present state, with the replies `refused` before."""
    return Move(
        Action.STOP.value, WalkState(state.node, state.heading), reason=reason, refused=tuple(refused)
    )


def _describe_arrival(before: WalkState, way: Link) -> str:
    """Return a text on an arrival: the turn in degrees, the metres walked and the viewpoint."""
    turn = signed_turn(before.heading, way.heading)
    toward = "left" if turn < 0 else "right"
    return (
        f"Turned {toward} by {abs(turn):.2f} degrees, from heading {before.heading:.2f} to "
        f"{way.heading:.2f}, and walked {way.distance:.2f} m. Now at viewpoint {way.pano_id}."
    )


def _length(step: _Step) -> int:
    """Return the number of characters of a step in the prompt."""
    return len(step.reply) + len(step.observation_text)


def _join(text: str, summary: str) -> str:
    """Return a text followed by a summary, which may be empty."""
    return f"{text} {summary}" if summary else text


def _shorten(reply: str) -> str:
    """Return a reply, cut after `_MAX_REPLY` characters."""
    return reply if len(reply) <= _MAX_REPLY else f"{reply[: _MAX_REPLY - 1]}\N{HORIZONTAL ELLIPSIS}"
