"""What becomes of an activity: its cost, its changes, and the lines it adds to the day."""

from collections.abc import Mapping
from types import MappingProxyType

from virl.routines.day.activity import Activity, DayProgress, clamp_feelings
from virl.routines.day.proposal import Proposal
from virl.routines.day.replies import DayEstimate
from virl.routines.day.settings import FEELINGS

HOW: Mapping[str, str] = MappingProxyType(
    {
        "walking": "Walk",
        "cycling": "Cycle",
        "transit": "Take public transport",
        "driving": "Take a taxi",
    }
)


def cost_of(proposal: Proposal, estimate: DayEstimate) -> float:
    """Return dollars without the way: what is known, or the estimate if that is more or nothing is known."""
    if proposal.usd is None:
        return estimate.cost_usd
    return max(proposal.usd, estimate.cost_usd) if proposal.spot.name else proposal.usd


def changes_of(estimate: DayEstimate) -> dict[str, int]:
    """Return the signed changes by feeling."""
    return {name: getattr(estimate, name).by for name in FEELINGS}


def activities_of(
    proposal: Proposal, estimate: DayEstimate, standing: DayProgress, *, fallback: bool
) -> list[Activity]:
    """Return the way, if there is one, and what it leads to.

    Args:
        proposal: what is done.
        estimate: what it does.
        standing: where the client is before.
        fallback: whether it takes the place of drafts that would not do.
    """
    changes = changes_of(estimate)
    after = clamp_feelings(standing.state, changes)
    because = {name: getattr(estimate, name).because for name, by in changes.items() if by}
    done = [one] if (one := _way_activity(proposal, standing)) else []
    if proposal.kind == "transport":
        return [
            one.model_copy(update={"changes": changes, "because": because, "state": after}) for one in done
        ]
    cost = round(cost_of(proposal, estimate), 2)
    left = done[-1].budget_usd if done else standing.budget_usd
    visit = Activity(
        kind=proposal.kind,
        starts=proposal.starts,
        ends=proposal.ends,
        what=proposal.what,
        reason=proposal.reason,
        spot=proposal.spot,
        cost_usd=cost,
        changes=changes,
        because=because,
        state=after,
        budget_usd=max(round(left - cost, 2), 0.0),
        fallback=fallback,
    )
    return [*done, visit]


def _way_activity(proposal: Proposal, standing: DayProgress) -> Activity | None:
    """Return the way to a proposal as an activity of its own; None if there is no way."""
    way = proposal.way
    if way is None:
        return None
    return Activity(
        kind="transport",
        starts=proposal.leaves,
        ends=proposal.leaves + way.minutes,
        what=f"{HOW[way.mode]} to {proposal.spot.name or 'there'}",
        reason=f"It takes {way.minutes} minutes{f': {way.words}' if way.words else ''}.",
        spot=proposal.spot,
        mode=way.mode,
        cost_usd=way.usd,
        state=dict(standing.state),
        budget_usd=max(round(standing.budget_usd - way.usd, 2), 0.0),
    )
