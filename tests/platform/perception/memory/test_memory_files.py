"""What is on the disk: whole after a kill, checked when read, the same when opened again."""

import json
import logging
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from made_world import STREET_THINGS, Thing, open_memory, settings, sighting

from virl.errors import BadInput
from virl.platform.perception.memory import CannotWrite, MemoryBroken, VisualMemory
from virl.platform.perception.memory.records import Joined

POINTS = [(0.0, 10.0 * i) for i in range(6)]


def look(memory: VisualMemory, x: float, y: float) -> None:
    """The same noisy look around a point each time."""
    rng = np.random.default_rng(round(y))
    near = [thing for thing in STREET_THINGS if abs(thing.y - y) < 18]
    memory.add([sighting(thing, x, y, jitter=0.1, rng=rng) for thing in near], name=f"at {x},{y}")


def state(memory: VisualMemory) -> object:
    return [(thing, thing.confidence) for thing in memory.objects()], list(memory.history())


@pytest.fixture
def full(tmp_path: Path) -> VisualMemory:
    memory = open_memory(tmp_path / "full")
    for x, y in POINTS:
        look(memory, x, y)
    memory.merge()
    return memory


def test_opening_again_restores_everything(full: VisualMemory) -> None:
    again = VisualMemory.open(full.folder)
    assert again.settings == full.settings
    assert state(again) == state(full)
    assert again.objects_near(full.objects()[0].estimate.position, 50.0, "trash bin") == full.objects_near(
        full.objects()[0].estimate.position, 50.0, "trash bin"
    )


@pytest.mark.slow
def test_half_then_reopened_then_the_rest_is_all_at_once(full: VisualMemory, tmp_path: Path) -> None:
    for cut in range(1, len(POINTS)):
        folder = tmp_path / f"cut-{cut}"
        memory = open_memory(folder)
        for x, y in POINTS[:cut]:
            look(memory, x, y)
        memory = VisualMemory.open(folder)
        for x, y in POINTS[cut:]:
            look(memory, x, y)
        memory.merge()
        assert (folder / "memory.jsonl").read_bytes() == (full.folder / "memory.jsonl").read_bytes()


def test_a_kill_loses_the_last_line_at_most(
    full: VisualMemory, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    whole = (full.folder / "memory.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    folder = tmp_path / "killed"
    folder.mkdir()
    for lost in (1, 2, len(lines[-1]) // 2, len(lines[-1]) - 1):
        (folder / "memory.jsonl").write_bytes(whole[:-lost])
        with caplog.at_level(logging.WARNING):
            memory = VisualMemory.open(folder)
        assert f"line {len(lines)}: was cut off" in caplog.text
        caplog.clear()
        assert list(memory.history()) == list(full.history())[:-1]
        assert (folder / "memory.jsonl").read_bytes() == whole[:-lost]  # reading changes nothing
        for x, y in POINTS:
            look(memory, x, y)
        memory.merge()
        assert (folder / "memory.jsonl").read_bytes() == whole


def test_a_kill_in_the_first_line_leaves_an_empty_memory(full: VisualMemory, tmp_path: Path) -> None:
    first = (full.folder / "memory.jsonl").read_bytes().splitlines(keepends=True)[0]
    (tmp_path / "memory.jsonl").write_bytes(first[:20])
    memory = VisualMemory.open(tmp_path, settings())
    assert memory.objects() == []
    look(memory, 0.0, 0.0)
    assert VisualMemory.open(tmp_path).objects() == memory.objects()


def test_the_same_look_around_twice_is_taken_once(full: VisualMemory) -> None:
    before = (full.folder / "memory.jsonl").read_bytes()
    first = next(iter(full.history()))
    for memory in (full, VisualMemory.open(full.folder)):
        rng = np.random.default_rng(0)
        near = [thing for thing in STREET_THINGS if abs(thing.y) < 18]
        verdicts = memory.add([sighting(t, 0.0, 0.0, jitter=0.1, rng=rng) for t in near], name="at 0.0,0.0")
        assert not isinstance(first, Joined)
        assert tuple(verdicts) == first.verdicts
    assert (full.folder / "memory.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("line", "old", "new", "words"),
    [
        (1, b'"kind"', b"kind", "not JSON"),
        (1, b'"score":0.8', b'"score":"high"', "score"),
        (1, b'"seq":1', b'"seq":7', "out of order"),
        (2, b'"number":', b'"number":9', "out of order"),
        (2, b'"new":false', b'"new":true', "which it is not"),
        (0, b'"format":1', b'"format":2', "format 2"),
        (0, b'"kind":"memory"', b'"kind":"diary"', "no record"),
    ],
)
def test_damaged_lines_are_named(full: VisualMemory, line: int, old: bytes, new: bytes, words: str) -> None:
    path = full.folder / "memory.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    assert old in lines[line]
    lines[line] = lines[line].replace(old, new, 1)
    path.write_bytes(b"".join(lines))
    with pytest.raises(MemoryBroken, match=words) as refused:
        VisualMemory.open(full.folder)
    assert f"memory.jsonl, line {line + 1}:" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_missing_and_damaged_pictures_are_named(full: VisualMemory) -> None:
    view = full.objects()[0].views[0]
    assert full.picture(view.crop).shape[2] == 3
    assert full.picture(view.picture).shape == (view.camera.height, view.camera.width, 3)
    again = VisualMemory.open(full.folder)
    (full.folder / view.crop).write_bytes(b"no picture")
    (full.folder / view.picture).unlink()
    with pytest.raises(MemoryBroken, match=view.crop):
        again.picture(view.crop)
    with pytest.raises(MemoryBroken, match=view.picture):
        again.picture(view.picture)


def test_annotated_views_show_the_box_and_crops_do_not(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    memory.add([sighting(Thing(5.0, 10.0), 0.0, 0.0)])[0]
    view = memory.objects()[0].views[0]
    assert memory.picture(view.picture).max() > 180
    assert memory.picture(view.crop).max() < 110


def test_other_settings_than_it_was_begun_with_are_refused(full: VisualMemory) -> None:
    with pytest.raises(BadInput, match="other settings"):
        VisualMemory.open(full.folder, settings(geometry=False))


def test_a_place_that_cannot_be_written_is_named_and_nothing_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    memory = open_memory(tmp_path / "file" / "memory")
    with pytest.raises(CannotWrite, match="cannot write"):
        memory.add([sighting(Thing(5.0, 10.0), 0.0, 0.0)])[0]
    assert memory.objects() == []


def test_two_writers_are_noticed(full: VisualMemory) -> None:
    other = VisualMemory.open(full.folder)
    other.add([sighting(Thing(5.0, 400.0), 0.0, 390.0)])[0]
    before = full.objects()
    with pytest.raises(CannotWrite, match="another process"):
        full.add([sighting(Thing(5.0, 500.0), 0.0, 490.0)])[0]
    assert full.objects() == before


@pytest.mark.slow
def test_killed_while_writing(tmp_path: Path) -> None:
    """A process that adds without end is killed three times; each time all whole lines are still there."""
    script = (
        "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from made_world import *\n"
        "memory = open_memory(Path(sys.argv[2])); n = len(list(memory.history())); print('on', flush=True)\n"
        "for i in range(n, 9999): memory.add([sighting(Thing(5, 10 + 50 * i), 0, 50 * i)], name=str(i))[0]"
    )
    known: list[object] = []
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", script, str(Path(__file__).parent), str(tmp_path)], stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(0.3)
            process.kill()
        memory = VisualMemory.open(tmp_path)
        history = list(memory.history())
        assert history[: len(known)] == known
        assert len(memory.objects()) == len(history) > len(known)
        for thing in memory.objects():
            assert memory.picture(thing.views[0].crop).size > 0
        known = history


def test_lines_are_plain_json(full: VisualMemory) -> None:
    first, *others = (full.folder / "memory.jsonl").read_text().splitlines()
    assert json.loads(first)["format"] == 1
    assert all(json.loads(line)["seq"] == i for i, line in enumerate(others, start=1))


def test_pixels_are_not_held(tmp_path: Path) -> None:
    """The crops in memory stay few, however many are looked at."""
    memory = open_memory(tmp_path)
    for i in range(40):
        memory.add([sighting(Thing(5.0, 10.0 + 100.0 * i), 0.0, 100.0 * i)])[0]
    for thing in memory.objects():
        memory.picture(thing.views[0].crop)
    assert len(memory._pictures._held) == 32


def test_the_pictures_of_the_first_and_of_the_best_sightings_are_kept(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    scores = [0.5, 0.4, 0.3, 0.45, 0.6, 0.6, 0.2, 0.9]
    for number, score in enumerate(scores):
        memory = VisualMemory.open(tmp_path, memory.settings)  # as after a kill
        memory.add([sighting(Thing(5.0, 12.0), 0.0, float(number), score=score)])
    (thing,) = memory.objects()
    assert [bool(view.picture) for view in thing.views] == [True, True, True, False, True, False, False, True]
    assert [bool(view.crop) for view in thing.views] == [bool(view.picture) for view in thing.views]
    named = {name for view in thing.views for name in (view.crop, view.picture) if name}
    assert {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.jpg")} == named


def test_a_memory_with_all_its_pictures_goes_on_with_the_best(tmp_path: Path) -> None:
    memory = open_memory(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("virl.platform.perception.memory.memory.FIRST_PICTURES", 99)  # as it was before
        for number in range(6):
            memory.add([sighting(Thing(5.0, 12.0), 0.0, float(number), score=0.5)])
    memory = VisualMemory.open(tmp_path)
    for number, score in ((6, 0.4), (7, 0.6)):
        memory.add([sighting(Thing(5.0, 12.0), 0.0, float(number), score=score)])
    (thing,) = memory.objects()
    assert [bool(view.picture) for view in thing.views] == [True] * 6 + [False, True]
