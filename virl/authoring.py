"""Parts of routines and runs of one's own: consulted agents, outcomes, exhibits and journals."""

from virl.agent.consult import consult
from virl.journal.convert import place_record, pose_record, view_record
from virl.journal.journal import Journal, read_journal
from virl.journal.records import EndRecord, NoteRecord, StartRecord, StepRecord
from virl.journal.report import write_report
from virl.pages.exhibits import (
    Bar,
    BarsExhibit,
    Curve,
    CurvesExhibit,
    MapExhibit,
    MapLine,
    MapPoint,
    TableExhibit,
    TextExhibit,
)
from virl.platform.city.outcome import Outcome
from virl.routines.counting.rounds import count_along

__all__ = [
    "Bar",
    "BarsExhibit",
    "Curve",
    "CurvesExhibit",
    "EndRecord",
    "Journal",
    "MapExhibit",
    "MapLine",
    "MapPoint",
    "NoteRecord",
    "Outcome",
    "StartRecord",
    "StepRecord",
    "TableExhibit",
    "TextExhibit",
    "consult",
    "count_along",
    "place_record",
    "pose_record",
    "read_journal",
    "view_record",
    "write_report",
]
