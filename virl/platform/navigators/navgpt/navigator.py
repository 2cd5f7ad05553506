"""`NavGptNavigator`: reasons and acts with one tool, from viewpoint to viewpoint (NavGPT, 2023)."""

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Self

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
    Stand,
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
"""Number of a chat's oldest turns dropped at once, so that providers can cache its beginning. Chosen."""

Facts = dict[str, Any]
"""Plain data by name, as inputs of a prompt."""
MAX_STEPS = 10
"""Largest number of replies in an episode, refused ones included (as in NavGPT's published code)."""
MAX_SUMMARY = 400
"""Largest number of characters of a viewpoint's summary. Chosen: a long sentence."""
_MAX_SCRATCHPAD = 7000
"""Largest number of characters of thoughts and observations in a prompt (NavGPT's published code)."""
_MAX_REPLY = 1500
"""Largest number of characters of a reply in later prompts. Chosen: several times a thought and action."""


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

    def leave(self, summary: str) -> None:
        """Drop the view of the viewpoint, and add a summary of it, which may be empty."""
        self.observation += f" {summary}" if summary else ""
        self.view = ""


@dataclass(slots=True)
class _Scratchpad:
    """A history of one walk as text, which is shortened as the walk goes on.

    Only the observation of where the walker stands is told whole; when it goes on, the turn, the viewpoint's
    id and a summary take its place (section 3.4, appendix A.2). Beyond `_MAX_SCRATCHPAD` characters the
    oldest steps are left out whole; the observation of where the walker stands, and what came after it,
    never are.
    """

    _opening: _Step
    """Observation at the start, which follows no reply."""
    _steps: list[_Step] = field(default_factory=list)

    @classmethod
    def begin(cls, here: ViewpointObservation, heading: float) -> Self:
        """Return the history of a walk that begins at a viewpoint, facing a heading in degrees."""
        first = f"Not moved yet. At viewpoint {here.viewpoint}, facing {heading:.2f} degrees."
        return cls(_Step("", first, observation_text(here, heading)))

    def note_refusal(self, reply: str, fault: str) -> None:
        """Record a reply that could not be carried out, and its fault in words for the model."""
        self._steps.append(_Step(_shorten(reply), fault))

    def note_move(
        self, reply: str, summary: str, heading: float, way: Link, here: ViewpointObservation
    ) -> None:
        """Record a move from `heading` (degrees) to `here`; `summary` replaces the view of the place left."""
        next((step for step in self._steps if step.view), self._opening).leave(summary)
        turn = signed_turn(heading, way.heading)
        toward = "left" if turn < 0 else "right"
        arrival = (
            f"Turned {toward} by {abs(turn):.2f} degrees, from heading {heading:.2f} to "
            f"{way.heading:.2f}, and walked {way.distance:.2f} m. Now at viewpoint {way.pano_id}."
        )
        self._steps.append(_Step(_shorten(reply), arrival, observation_text(here, way.heading)))

    def inputs(self) -> Facts:
        """Return the inputs of the prompt `movement/navgpt-step` on the walk: the latest steps that fit."""
        here = next((index for index, step in enumerate(self._steps) if step.view), 0)
        room = _MAX_SCRATCHPAD - sum(map(_length, self._steps[here:]))
        first = here
        while first > 0 and room >= _length(self._steps[first - 1]):
            first -= 1
            room -= _length(self._steps[first])
        steps = [{"reply": one.reply, "observation": one.observation_text} for one in self._steps[first:]]
        return {"opening": self._opening.observation_text, "steps": steps, "left_out": first}


@dataclass(slots=True)
class _ChatHistory:
    """A history of one walk for chat models, which only grows, so that providers can cache it."""

    opening: Facts
    """Viewpoint and view at the start, by name."""
    turns: list[Facts] = field(default_factory=list)
    """`reply` of the model and `observation` of its result for each turn, the oldest first."""

    @classmethod
    def begin(cls, here: ViewpointObservation, heading: float) -> Self:
        """Return the history of a walk that begins at a viewpoint, facing a heading in degrees."""
        return cls({"viewpoint": here.viewpoint, "view": observation_parts(here, heading)})

    def note_move(
        self, reply: Facts, summary: str, heading: float, way: Link, here: ViewpointObservation
    ) -> None:
        """Record a move from `heading` (degrees) along a way, and what is seen at its end."""
        del summary  # a chat keeps all that was seen before
        arrival = {
            "turned": side(heading, way.heading),
            "walked_m": round(way.distance, 2),
            "viewpoint": here.viewpoint,
            "view": observation_parts(here, way.heading),
        }
        self.turns.append({"reply": reply, "observation": arrival})

    def inputs(self) -> Facts:
        """Return the inputs of the prompt `movement/navgpt-chat` on the walk: its start and latest turns."""
        over = max(0, len(self.turns) - MOST_TURNS)
        # In blocks: the beginning stays the same for many turns, so that providers can cache it.
        left_out = -(-over // FORGOTTEN) * FORGOTTEN
        return {"opening": self.opening, "left_out": left_out, "steps": self.turns[left_out:]}


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
        state, refused = start, list[str]()
        here = self._observe(state)
        stands = [stand(here, state.heading)]
        kind: type[_ChatHistory] | type[_Scratchpad] = _ChatHistory if self._in_chat else _Scratchpad
        history = kind.begin(here, state.heading)
        for replies_left in reversed(range(self.max_steps)):
            inputs = {"instruction": instruction, **history.inputs()}
            said, thought, wish = self._ask(stands, here, inputs)
            if isinstance(wish, Malformed):
                refused.append(said)
                if isinstance(history, _Scratchpad):  # a chat is told at once, until its reply can be done
                    history.note_refusal(said, wish.fault)
                continue
            if isinstance(wish, Finish):
                yield _stop(state, thought, refused)
                return
            before, state = state, WalkState(self.graph.number(wish.pano_id), wish.heading, state.node)
            yield Move(wish.pano_id, state, reason=thought, refused=tuple(refused))
            refused = []
            if replies_left:
                left, here = here, self._observe(state)
                stands.append(stand(here, state.heading))
                summary = "" if self._in_chat else self._summary(left)
                history.note_move(said, summary, before.heading, wish, here)
        yield _stop(state, f"the limit of {self.max_steps} steps is reached", refused)

    def _ask(
        self, stands: Sequence[Stand], here: ViewpointObservation, inputs: Facts
    ) -> tuple[Any, str, Link | Finish | Malformed]:
        """Return (the mind's reply as a history keeps it, its thought, what it asks for)."""
        rule_inputs = {"stands": stands}
        if not self._in_chat:
            said = own_words(self.mind.ask(self._step_prompt, rule_inputs=rule_inputs, **inputs).text)
            return said, thought_of(said), self._resolve_wish(read_reply(said, self._ids), here)
        # Checked as it came: it names a viewpoint that a way leads to.
        reply = self.mind.ask(self._chat_prompt, rule_inputs=rule_inputs, **inputs)
        if reply.action == "finish":
            return reply.model_dump(), reply.thought, Finish()
        way = next(way for way in here.ways if way.pano_id == reply.viewpoint)
        return reply.model_dump(), reply.thought, way

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
        """Return a sentence on the viewpoint `left`, stored or from the mind; empty if no text is on it."""
        if left.summary or not any(left.sentences):
            return left.summary
        reply = self.mind.ask(self._summary_prompt, description="\n".join(left.sentences))
        return " ".join(reply.text.split())[:MAX_SUMMARY]


def _stop(state: WalkState, reason: str, refused: list[str]) -> Move:
    """Return the move that ends a walk at its present state, with the replies `refused` before."""
    return Move(
        Action.STOP.value, WalkState(state.node, state.heading), reason=reason, refused=tuple(refused)
    )


def _length(step: _Step) -> int:
    """Return the number of characters of a step in the prompt."""
    return len(step.reply) + len(step.observation_text)


def _shorten(reply: str) -> str:
    """Return a reply, cut after `_MAX_REPLY` characters."""
    return reply if len(reply) <= _MAX_REPLY else f"{reply[: _MAX_REPLY - 1]}\N{HORIZONTAL ELLIPSIS}"
