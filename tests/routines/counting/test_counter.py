from pathlib import Path

import pytest
from made_street import FRAME, FURNITURE, PANORAMAS, ExactDetector, NoMatcher, Street, Thing, east

from virl.platform.perception.memory import VisualMemory, memory_settings
from virl.routines.counting.rounds import Counter


def counter(folder: Path, things: tuple[str, ...], furniture: tuple[Thing, ...] = FURNITURE) -> Counter:
    memory = VisualMemory.open(folder, memory_settings(), NoMatcher())
    return Counter(Street(), ExactDetector(furniture), memory, things, ["mailbox"])


@pytest.mark.slow
def test_each_thing_is_counted_once_however_often_it_is_passed(tmp_path: Path) -> None:
    counts = counter(tmp_path, ("trash bin", "bench", "fire hydrant"))
    there_and_back = [*range(PANORAMAS), *reversed(range(PANORAMAS))]
    seen = sum(len(counts.visit(east(number)).seen) for number in there_and_back)
    assert seen > 20
    assert counts.finish() == {"trash bin": 3, "bench": 1, "fire hydrant": 0}


@pytest.mark.slow
def test_positions_are_of_the_things_and_not_of_the_cameras(tmp_path: Path) -> None:
    counts = counter(tmp_path, ("trash bin", "bench"))
    for number in range(PANORAMAS):
        counts.visit(east(number))
    counts.finish()
    for thing in FURNITURE[:4]:
        (found,) = counts.memory.objects_near(FRAME.position(thing.x, thing.y), 1.0, thing.kind)
        assert abs(FRAME.point(found.estimate.position)[1] - thing.y) < 0.5, "cameras stand on y = 0"


def test_the_background_is_looked_for_and_never_counted(tmp_path: Path) -> None:
    counts = counter(tmp_path, ("trash bin",))
    labels = {
        one.label for number in range(8) for view in counts.visit(east(number)).look.found for one in view
    }
    assert labels == {"trash bin", "mailbox"}
    assert set(counts.finish()) == {"trash bin"}
    assert {thing.label for thing in counts.memory.objects()} == {"trash bin"}


def test_the_latest_visit_is_given_again_under_its_name(tmp_path: Path) -> None:
    counts = counter(tmp_path, ("trash bin",))
    for number in range(5):
        visit = counts.visit(east(number), f"step-{number}")
    assert len(visit.seen) == 2, "two bins at the kerb ahead"
    lines = (tmp_path / "memory.jsonl").read_bytes()
    again = counter(tmp_path, ("trash bin",)).visit(east(4), "step-4")
    assert (again.seen, again.verdicts) == (visit.seen, visit.verdicts)
    assert (tmp_path / "memory.jsonl").read_bytes() == lines


@pytest.mark.slow
def test_sightings_and_verdicts_are_in_the_same_order(tmp_path: Path) -> None:
    counts = counter(tmp_path, ("trash bin", "bench"))
    for number in range(PANORAMAS):
        visit = counts.visit(east(number))
        for seen, verdict in zip(visit.seen, visit.verdicts, strict=True):
            assert seen in counts.find_thing(verdict.object_id).views
            assert seen.pano_id == f"p{number}"


def test_a_thing_that_memory_does_not_have_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="bench-3"):
        counter(tmp_path, ("bench",)).find_thing("bench-3")
