"""Going on with a run that has ended already, or from its last step."""

from collections.abc import Sequence
from pathlib import Path

from virl.errors import NoStreetView
from virl.journal.journal import paid_by, write_result
from virl.journal.records import AnyRecord, EndRecord, Result, StepRecord
from virl.journal.report import write_report
from virl.money.ledger import Ledger
from virl.platform.city import City
from virl.platform.streetview import Link


def ended_before(
    folder: Path, done: Sequence[AnyRecord], city: City, ledger: Ledger, account: str
) -> Result | None:
    """Return the result of a run within another that has ended, if it has; its files are written again.

    Args:
        folder: the run's, which may have been killed before its result and its report were written.
        done: its records.
        city: where it took place.
        ledger: of the whole run.
        account: of the run within it.
    """
    ended = next((record.result for record in done if isinstance(record, EndRecord)), None)
    if ended:
        ledger.catch_up(paid_by(ended.cost), account, folder)
        write_result(folder, ended)
        write_report(folder, city)
    return ended


def link_taken(links: Sequence[Link], step: StepRecord) -> Link:
    """The link by which a step that is written down leads on.

    Args:
        links: that leave its pose now.
        step: which did not stop.

    Raises:
        NoStreetView: it is not among them.
    """
    link = next((link for link in links if link.pano_id == step.next_pano_id), None)
    if link is None:
        raise NoStreetView(
            f"no way leads from panorama {step.pose.pano_id!r} to {step.next_pano_id!r} any more: "
            "begin a new run"
        )
    return link
