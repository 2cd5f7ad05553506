"""The exact part of the audit: what can be computed of an activity, and is not left to judgement."""

from virl.clock import show_clock
from virl.routines.day.activity import WORST, DayProgress
from virl.routines.day.hours import stretches
from virl.routines.day.outcome import cost_of
from virl.routines.day.proposal import Proposal
from virl.routines.day.replies import DayEstimate
from virl.routines.day.town import Town

CENT = 0.005
HURTS = ("energy", "stress", "pain")
"""Feelings beyond whose worst nobody is sent; hunger is mended by a meal, and moods come and go."""


def objections(proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town) -> list[str]:
    """What speaks against an activity, each in a sentence; empty if it can be done.

    Args:
        proposal: with its way.
        estimate: of what it does and costs.
        standing: where the client is.
        town: where.
    """
    return [*impossible(proposal, estimate, standing, town), *_strain(estimate, standing)]


def impossible(proposal: Proposal, estimate: DayEstimate, standing: DayProgress, town: Town) -> list[str]:
    """What of an activity cannot be, whoever wants it: its time, its hours and its money."""
    found = [*_time_faults(proposal, standing, town), *_hour_faults(proposal, town)]
    way_usd = proposal.way.usd if proposal.way else 0.0
    cost = cost_of(proposal, estimate) + way_usd
    if cost > standing.budget_usd + CENT:
        found.append(f"It costs {cost:.2f} dollars with the way, and {standing.budget_usd:.2f} are left.")
    return found


def _time_faults(proposal: Proposal, standing: DayProgress, town: Town) -> list[str]:
    until = town.day.minutes[1]
    found = []
    if proposal.leaves < standing.now:
        found.append(f"The client would have to leave before {show_clock(standing.now)}.")
    if proposal.ends > until:
        found.append(f"It lasts beyond the end of the day at {show_clock(until)}.")
    if proposal.ends <= proposal.starts and proposal.kind != "transport":
        found.append("It takes no time.")
    return found


def _hour_faults(proposal: Proposal, town: Town) -> list[str]:
    if proposal.place is None:
        return []
    for opens, closes in stretches(proposal.place, town.weekday):
        if opens <= proposal.starts and proposal.ends <= closes:
            return []
    return [f"{proposal.place.name} is closed at that time."]


def _strain(estimate: DayEstimate, standing: DayProgress) -> list[str]:
    """An activity that would take a feeling beyond its worst asks too much."""
    found = []
    for name in HURTS:
        by, value = getattr(estimate, name).by, standing.state[name]
        worst = WORST[name]
        if (worst == 0.0 and value + by < 0 and by < 0) or (worst == 100.0 and value + by > 100 and by > 0):
            found.append(f"It asks too much: {name} is at {value:.0f} of 100 and would change by {by:+d}.")
    return found
