"""Going on with a run that has ended already, or from its last step."""

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path

from virl.agent.agent import Agent
from virl.errors import NoStreetView
from virl.geo.globe import LatLng, signed_turn
from virl.journal.journal import paid_by, write_result
from virl.journal.records import AnyRecord, EndRecord, NoteRecord, Result, StartRecord, StepRecord
from virl.journal.report import write_report
from virl.money.ledger import Ledger
from virl.platform.city.city import City
from virl.platform.city.outcome import Outcome
from virl.platform.city.streetview import Link, Pose, relocate

_BLOCKED = Outcome("blocked")
_log = logging.getLogger(__name__)


def ended_before(
    folder: Path, done: Sequence[AnyRecord], city: City, ledger: Ledger, account: str
) -> Result | None:
    """Return the result in a consulted run's records `done`, and rewrite its files; `None` if it did not end.

    Args:
        folder: the run's, which may have been killed before its result and its report were written.
        done: its records.
        city: where it took place.
        ledger: of the whole run.
        account: name of the run's payments in its book.
    """
    ended = next((record.result for record in done if isinstance(record, EndRecord)), None)
    if ended:
        ledger.catch_up(paid_by(ended.cost), account, folder)
        write_result(folder, ended)
        write_report(folder, city)
    return ended


def link_taken(links: Sequence[Link], step: StepRecord) -> Link:
    """Return the link that a recorded step took, or the one that turns least if that link is gone.

    Raises:
        NoStreetView: no link leaves its pose any more.
    """
    taken = next((link for link in links if link.pano_id == step.next_pano_id), None)
    taken = taken or _straightest_link(links, step)
    if taken is None:
        raise NoStreetView(f"no way leads from panorama {step.pose.pano_id!r} any more: begin a new run")
    if taken.pano_id != step.next_pano_id:
        _log.warning("step %d: %s", step.step, _detour_text(step, taken))
    return taken


def onward_pose(agent: Agent) -> Pose:
    """Return the pose at which an agent's walk goes on: at its start, or where its last step's link leads.

    Raises:
        NoStreetView: no link leaves the last step's pose any more.
    """
    if not agent.run.steps:
        return agent.start_pose
    last = agent.run.steps[-1]
    link = link_taken(agent.mover.links(Pose(last.pose.pano_id, last.pose.heading)), last)
    return Pose(link.pano_id, link.heading)


def first_position(done: Sequence[AnyRecord]) -> LatLng | None:
    """Return the position of the first step of a run; `None` before there is one."""
    first = next((record.pose for record in done if isinstance(record, StepRecord)), None)
    return LatLng(first.lat, first.lng) if first else None


def replace_missing_panoramas(
    done: Sequence[AnyRecord], city: City, mover: str
) -> tuple[Sequence[AnyRecord], str]:
    """Return (records, remark) with panoramas and links that the city no longer has replaced by the nearest.

    Only the last panorama is looked up where that costs something. The remark has sentences on what was
    replaced; it is empty if nothing was.

    Args:
        done: the records of a run that goes on.
        city: where it takes place.
        mover: by whose links it goes on; those of the street view are looked up.

    Raises:
        NoStreetView: nothing is left near a panorama that is gone.
    """
    steps = [record for record in done if isinstance(record, StepRecord)]
    looked = steps if city.ledger is None else steps[-1:]
    nearest: dict[str, str] = {}
    told = []
    for pose in {step.pose.pano_id: step.pose for step in looked}.values():
        try:
            city.streetview.panorama(pose.pano_id)
        except NoStreetView:
            place = f"panorama {pose.pano_id!r}, which is gone"
            nearest[pose.pano_id] = there = relocate(city.streetview, LatLng(pose.lat, pose.lng), place).id
            told.append(f"Panorama {pose.pano_id!r} is gone; the nearest, {there!r}, takes its place.")
    records = [_replace_panoramas(record, nearest) for record in done] if nearest else list(done)
    last = next((record for record in reversed(records) if isinstance(record, StepRecord)), None)
    # A tour of a region leads from panorama to panorama also where no link does.
    on_tour = any(isinstance(one, StartRecord) and one.character.get("region") is not None for one in done)
    if last and last.next_pano_id and mover == "links" and not on_tour:
        links = city.streetview.panorama(last.pose.pano_id).links
        if all(link.pano_id != last.next_pano_id for link in links):
            ahead = _straightest_link(links, last)
            told.append(_detour_text(last, ahead))
            onward = {"next_pano_id": ahead.pano_id} if ahead else {"next_pano_id": None, "outcome": _BLOCKED}
            records[last.seq] = last.model_copy(update=onward)
    return records, " ".join(told)


def _straightest_link(links: Sequence[Link], step: StepRecord) -> Link | None:
    """Return the link with the smallest turn from a step's heading; `None` without links."""
    facing = step.pose.heading
    return min(links, key=lambda link: abs(signed_turn(facing, link.heading)), default=None)


def _detour_text(step: StepRecord, link: Link | None) -> str:
    """Return the sentence that a step's link is gone and `link` is taken, or for `None` the walk ends."""
    gone = f"No way leads from panorama {step.pose.pano_id!r} to {step.next_pano_id!r} any more"
    return f"{gone}; {f'the one to {link.pano_id!r} is taken' if link else 'the walk ends there'}."


def _replace_panoramas(record: AnyRecord, nearest: Mapping[str, str]) -> AnyRecord:
    """Return a record with each panorama id that is a key of `nearest` replaced by its value."""
    if isinstance(record, NoteRecord):
        return record.model_copy(update={"data": _in_data(record.data, nearest)})
    if not isinstance(record, StepRecord):
        return record
    pose = record.pose.model_copy(update={"pano_id": nearest.get(record.pose.pano_id, record.pose.pano_id)})
    return record.model_copy(
        update={"pose": pose, "next_pano_id": nearest.get(record.next_pano_id or "", record.next_pano_id)}
    )


def _in_data(data: object, nearest: Mapping[str, str]) -> object:
    """Return a note's data, or a part of it, with texts that are keys of `nearest` replaced by its values."""
    if isinstance(data, Mapping):
        return {name: _in_data(value, nearest) for name, value in data.items()}
    if isinstance(data, list | tuple):
        return [_in_data(value, nearest) for value in data]
    return nearest.get(data, data) if isinstance(data, str) else data
