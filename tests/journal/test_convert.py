import numpy as np
import pytest
from pydantic import ValidationError

from virl.geo.globe import LatLng
from virl.journal.convert import detection_record, exchange_record, place_record, pose_record, view_record
from virl.journal.records import ANY_RECORD, ExchangeRecord, StepRecord
from virl.money.book import Exchange
from virl.platform.city.places import OpeningHours, Place, Review
from virl.platform.city.streetview import Camera, Pose, View
from virl.platform.perception.base import Detection

PLACE = Place("p", "Café 麺", ("cafe",), LatLng(1, 2), rating=4.0, reviews=(Review(5, "good"),))


def test_inputs_become_plain_json() -> None:
    inputs = {
        "place": PLACE,
        "hours": (OpeningHours(0, 1, 2),),
        "score": np.float32(0.5),
        "picture": np.zeros((4, 6, 3), np.uint8),
        "types": {"cafe"},
        "far": float("inf"),
        "half": "\ud83d",
    }
    record = exchange_record(Exchange("q", "rules", inputs, {"index": np.int64(2)}))
    assert record.reply == {"index": 2}
    assert record.inputs["place"]["reviews"] == [{"rating": 5, "text": "good", "author": ""}]  # type: ignore[index]
    assert record.inputs["score"] == 0.5
    assert record.inputs["picture"] == "array of shape (4, 6, 3)"
    assert record.inputs["far"] == "Infinity"
    assert ExchangeRecord.model_validate_json(record.model_dump_json()) == record


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    edges = tuple(np.arange(4, dtype=np.float32))
    found = Detection("cafe", float(np.float32(0.75)), edges, "CAFÉ 麺")  # type: ignore[arg-type]
    view = View("a", Camera(370, 5, 60, 32, 24), np.zeros((24, 32, 3), np.uint8))
    step = StepRecord(
        seq=1,
        step=0,
        pose=pose_record(Pose("a", np.float32(10)), LatLng(1, 2)),  # type: ignore[arg-type]
        distance_m=0,
        views=(view_record(view, "views/a.jpg", purpose="closer", detections=[found]),),
        places=(place_record(PLACE, decision="enter", reason="near"),),
        decided="",
    )
    assert step.views[0].heading == 10
    assert step.views[0].detections == (detection_record(found),)
    assert ANY_RECORD.validate_json(step.model_dump_json()) == step


def test_what_json_cannot_hold_is_refused_at_once() -> None:
    with pytest.raises(ValidationError):
        detection_record(Detection("cafe", float("nan"), (0, 0, 1, 1)))
