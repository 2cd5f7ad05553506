"""The flow of traffic at the start of a Touchdown walk, from the panorama's yaw or from its views."""

import numpy as np

from virl.geo import signed_turn
from virl.platform.graph import NavigationGraph
from virl.platform.movement.discrete.rules import WalkState
from virl.platform.movement.instruction.velma.observations import Flow, TrafficFlow
from virl.platform.movement.instruction.velma.scorer import TextEncoder, ViewEmbeddings

VEHICLES = ("car", "truck", "bus")
SIDES = ("rear", "front", "side")


def yaw_flow(graph: NavigationGraph) -> TrafficFlow:
    """The camera car drove with the traffic: facing its way, by less than 90 degrees, is facing with it.

    `None` where the yaw is not known or lies at a right angle. Of the touchdown_unseen dev instructions that
    ask to go with or against the traffic, 93 % (260 of 280) agree with this along the gold path (measured).
    """

    def flow(state: WalkState) -> Flow | None:
        turn = abs(signed_turn(graph.yaw[state.node], state.heading))
        if np.isnan(turn) or turn == 90:
            return None
        return "with" if turn < 90 else "against"

    return flow


def view_flow(graph: NavigationGraph, views: ViewEmbeddings, texts: TextEncoder) -> TrafficFlow:
    """What the vehicles ahead and behind show: their rear where they drive away from the camera.

    For each of car, truck and bus, its rear, front and side are scored in the view ahead and in the one
    behind. Where the side is likeliest that vehicle is left aside; rears ahead and fronts behind speak for
    "with", the others for "against", which also wins a draw. VELMA's code scores crops around detected
    vehicles; here the whole view is scored.
    """
    captions = [f"{side} view of a {vehicle}" for vehicle in VEHICLES for side in SIDES]

    def flow(state: WalkState) -> Flow | None:
        seen = views.views(graph.ids[state.node], [state.heading, state.heading + 180.0])
        scores = (seen @ texts.texts(captions).T).reshape(2, len(VEHICLES), len(SIDES))
        usable = scores[..., 2] < scores[..., :2].max(axis=-1)
        rear, front = np.where(usable, scores[..., 0], 0.0), np.where(usable, scores[..., 1], 0.0)
        if not usable.any():
            return None
        ahead, behind = 0, 1
        along = rear[ahead].sum() + front[behind].sum()
        counter = front[ahead].sum() + rear[behind].sum()
        return "with" if along > counter else "against"

    return flow
