"""The record of one episode: what the agent did, where it came, and how that scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from virl.errors import MindFailed
from virl.mind.base import Exchange
from virl.platform.episodes import Episode
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.movement.instruction.base import InstructionNavigator, Move

from ..records import Record

Status = Literal["walked", "failed", "skipped"]


@dataclass(slots=True)
class Walk:
    """What came of an episode."""

    start: WalkState
    moves: list[Move] = field(default_factory=list)
    status: Status = "walked"
    reason: str = ""
    """Why the agent failed."""

    def path(self) -> list[int]:
        """Numbers of the nodes walked, the start first."""
        nodes = [self.start.node]
        for move in self.moves:
            if move.state.node != nodes[-1]:
                nodes.append(move.state.node)
        return nodes


def take_walk(navigator: InstructionNavigator, instruction: str, start: WalkState) -> Walk:
    """Let an agent follow an instruction; where its model gives no usable reply, the walk ends as failed."""
    walk = Walk(start)
    try:
        for move in navigator.walk(instruction, start):
            walk.moves.append(move)
    except MindFailed as fault:
        walk.status, walk.reason = "failed", str(fault)
    return walk


def walk_record(
    graph: NavigationGraph,
    episode: Episode,
    walk: Walk,
    scores: Mapping[str, float | None],
    exchanges: Sequence[Exchange] = (),
) -> Record:
    """An episode as a line of `records.jsonl`; `decisions` holds what is not said by the actions alone."""
    record: Record = {
        "id": episode.id,
        "status": walk.status,
        "scan": episode.scan,
        "start": [graph.ids[walk.start.node], _degrees(walk.start.heading)],
        "actions": [move.action for move in walk.moves],
        "states": [[graph.ids[move.state.node], _degrees(move.state.heading)] for move in walk.moves],
        "pano_path": [graph.ids[node] for node in walk.path()],
        "decisions": [_decision(move) for move in walk.moves],
        "scores": dict(scores),
    }
    if walk.reason:
        record["reason"] = walk.reason
    if exchanges:
        record["cost"] = _cost(exchanges)
    return record


def skipped_record(episode_id: str, reason: str) -> Record:
    """An episode that cannot be tried, and why."""
    return {"id": episode_id, "status": "skipped", "reason": reason}


def _decision(move: Move) -> dict[str, Any]:
    told = {"asked": move.asked, "reason": move.reason, "refused": list(move.refused)}
    return {name: value for name, value in told.items() if value}


def _cost(exchanges: Sequence[Exchange]) -> dict[str, float]:
    return {
        "questions": len(exchanges),
        "cached": sum(exchange.cached for exchange in exchanges),
        "requests": sum(exchange.attempts for exchange in exchanges if not exchange.cached),
        "input_tokens": sum(exchange.input_tokens for exchange in exchanges),
        "output_tokens": sum(exchange.output_tokens for exchange in exchanges),
        "usd": sum(exchange.usd for exchange in exchanges),
        "seconds": round(sum(exchange.seconds for exchange in exchanges), 3),
    }


def _degrees(heading: float) -> float | int:
    return int(heading) if float(heading).is_integer() else heading
