"""Things go in as sightings, and come out once each."""

from dataclasses import replace
from math import hypot
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from made_world import Thing, at, camera_to, metres, open_memory, settings, sighting, walk

from virl.errors import BadInput, UnknownName
from virl.geo.globe import LatLng
from virl.platform.city.streetview import Camera, View
from virl.platform.perception.active import Sighting
from virl.platform.perception.memory import VisualMemory, memory_settings

STREET = [(0.0, float(y)) for y in range(0, 50, 10)]


@pytest.fixture
def memory(tmp_path: Path) -> VisualMemory:
    return open_memory(tmp_path / "memory")


def test_a_bin_seen_from_five_panoramas_is_one(memory: VisualMemory) -> None:
    thing = Thing(5.0, 22.0)
    walk(memory, [thing], STREET, jitter=0.1, rng=np.random.default_rng(1))
    (only,) = memory.objects()
    x, y = metres(only.estimate.position)
    assert hypot(x - 5.0, y - 22.0) < 1.0
    assert len(only.views) == len(only.panoramas) == 5
    assert only.estimate.sigma < 1.0


def test_two_bins_three_metres_apart_are_two_from_every_side(memory: VisualMemory) -> None:
    things = [Thing(5.0, 20.0), Thing(5.0, 23.0)]
    owners = walk(memory, things, STREET, jitter=0.1, rng=np.random.default_rng(2))
    assert sorted(map(sorted, owners.values())) == [[0], [1]]


@pytest.mark.parametrize("first", [0, 1])
def test_a_bin_that_only_later_panoramas_show_beside_its_neighbour_is_new(
    memory: VisualMemory, first: int
) -> None:
    """The joint assignment: which of two near bins was known is settled by which fits it better."""
    things = [Thing(5.0, 20.0), Thing(5.0, 23.0)]
    lone = memory.add([sighting(things[first], 0.0, 12.0)])[0]
    for y in (16.0, 26.0):
        verdicts = memory.add([sighting(thing, 0.0, y) for thing in things])
        assert verdicts[first].object_id == lone.object_id
        assert verdicts[1 - first].object_id != lone.object_id
    assert memory.counts() == {"trash bin": 2}


def test_two_boxes_of_one_view_are_never_one_object(memory: VisualMemory) -> None:
    camera = Camera(0.0, -5.0, 60.0, 160, 160)
    things = [Thing(1.0, 20.0), Thing(1.9, 20.3)]
    one, other = memory.add([sighting(thing, 0.0, 0.0, camera=camera) for thing in things])
    assert one.object_id != other.object_id
    third = memory.add([sighting(Thing(0.4, 20.0), 0.0, 0.0, camera=camera)])[0]
    assert third.new
    assert {opinion.rule for comparison in third.comparisons for opinion in comparison.opinions} == {
        "same view"
    }
    assert memory.merge() == []


def test_one_thing_in_several_zooms_of_one_panorama_is_one(memory: VisualMemory) -> None:
    thing = Thing(3.0, 12.0)
    cameras = [
        Camera(10.0, 0.0, 60.0, 160, 160),
        camera_to(thing, 0.0, 0.0),
        Camera(20.0, -8.0, 90.0, 160, 160),
    ]
    verdicts = memory.add([sighting(thing, 0.0, 0.0, camera=camera) for camera in cameras])
    assert len({verdict.object_id for verdict in verdicts}) == 1
    assert [verdict.new for verdict in verdicts] == [True, False, False]
    again = memory.add([sighting(thing, 0.0, 0.0, camera=Camera(0.0, -5.0, 70.0, 160, 160))])[0]
    assert not again.new
    assert again.comparisons[0].opinions[0].rule == "same panorama"


def test_things_on_both_sides_of_north_are_matched_across_it(memory: VisualMemory) -> None:
    thing = Thing(0.05, 15.0)
    first = memory.add([sighting(thing, 0.0, 0.0, camera=Camera(359.0, -8.0, 50.0, 160, 160))])[0]
    second = memory.add([sighting(thing, 0.0, 0.0, camera=Camera(1.0, -8.0, 40.0, 160, 160))])[0]
    assert second.object_id == first.object_id


def test_labels_are_kept_apart(memory: VisualMemory) -> None:
    for label in ("trash bin", "bench"):
        memory.add([sighting(Thing(3.0, 12.0, label=label), 0.0, 0.0)])[0]
    assert memory.counts() == {"bench": 1, "trash bin": 1}


def test_what_stands_behind_is_another_thing(memory: VisualMemory) -> None:
    ahead, behind = Thing(0.0, 12.0), Thing(0.0, -12.0)
    verdicts = memory.add([sighting(ahead, 0.0, 0.0), sighting(behind, 0.0, 0.0)])
    assert verdicts[0].object_id != verdicts[1].object_id
    from_aside = memory.add([sighting(behind, 4.0, 0.0)])[0]
    assert from_aside.object_id == verdicts[1].object_id


def test_parallel_rays_do_not_make_far_things_one(memory: VisualMemory) -> None:
    """Seen along one line from two places, two things at different distances stay two."""
    memory.add([sighting(Thing(0.0, 12.0), 0.0, 0.0)])[0]
    assert memory.add([sighting(Thing(0.0, 32.0), 0.0, 5.0)])[0].new
    assert not memory.add([sighting(Thing(0.0, 12.0), 0.0, 5.0)])[0].new


def test_without_ranges_parallel_rays_give_no_verdict_where_things_are_dense(tmp_path: Path) -> None:
    crowded = settings(box_range=False).model_copy(update={"density_per_m2": 0.03})
    memory = VisualMemory.open(tmp_path, crowded)
    memory.add([sighting(Thing(0.0, 14.0), 0.0, 0.0)])[0]
    verdict = memory.add([sighting(Thing(0.0, 14.0), 0.0, -2.0)])[0]
    assert verdict.new
    assert [opinion.says for opinion in verdict.comparisons[0].opinions] == ["no verdict"]


def test_verdicts_say_why(memory: VisualMemory) -> None:
    memory.add([sighting(Thing(3.0, 12.0), 0.0, 0.0)])[0]
    verdict = memory.add([sighting(Thing(3.0, 12.0), 0.0, 6.0)])[0]
    (comparison,) = verdict.comparisons
    assert comparison.is_same
    assert comparison.cost < 0
    assert comparison.opinions[0].rule == "geometry"
    assert "m apart" in comparison.opinions[0].reason
    far = memory.add([sighting(Thing(3.0, 22.0), 0.0, 6.0)])[0]
    assert far.new
    assert far.comparisons[0].opinions[0].says == "different"


@pytest.mark.slow
@hypothesis_settings(max_examples=8)
@given(st.integers(0, 100_000))
def test_made_streets_are_counted_right(seed: int) -> None:
    """Random streets with noisy boxes: each thing once, near its place; bins stand 4 m apart at least."""
    rng = np.random.default_rng(seed)
    ys = np.cumsum(rng.uniform(4.0, 20.0, 7)) + 8.0
    things = [Thing(float(rng.choice([-5.0, 5.0])), float(y)) for y in ys]
    points = [(0.0, 10.0 * i) for i in range(int(ys[-1] // 10) + 2)]
    with TemporaryDirectory() as folder:
        memory = open_memory(Path(folder))
        owners = walk(memory, things, points, reach=20.0, jitter=0.08, rng=rng)
        memory.merge()
        assert len(memory.objects()) == len(things)
        for thing in memory.objects():
            x, y = metres(thing.estimate.position)
            assert min(hypot(x - things[i].x, y - things[i].y) for i in owners[thing.id]) < 2.0


@pytest.mark.slow
def test_each_switch_shows(tmp_path: Path) -> None:
    """The same walk, with each rule off in turn, makes duplicates that the rule was there to find."""
    things = [Thing(5.0, float(y)) for y in (8, 14, 25, 33)]

    def count(**rules: bool) -> int:
        memory = open_memory(tmp_path / "-".join(rules or {"all": True}), merge=False, **rules)
        for x, y in STREET:
            near = [thing for thing in things if hypot(thing.x - x, thing.y - y) <= 25.0]
            zooms = [camera_to(thing, x, y, fov) for thing in near for fov in (40.0, 70.0)]
            twice = [thing for thing in near for _ in (0, 1)]
            memory.add([sighting(t, x, y, camera=c) for t, c in zip(twice, zooms, strict=True)])
        return len(memory.objects())

    assert count() == len(things)
    assert count(same_panorama=False) > len(things)
    assert count(geometry=False) > 2 * len(things)
    assert count(box_range=False) > len(things)


@pytest.mark.parametrize("merge", [True, False])
def test_merge_joins_what_has_come_together(tmp_path: Path, merge: bool) -> None:
    """Without the panorama rule, two zooms found two objects; their positions agree in the end."""
    thing, neighbour = Thing(4.0, 14.0), Thing(4.0, 19.0)
    memory = open_memory(tmp_path, same_panorama=False, merge=merge)
    memory.add([sighting(thing, 0.0, 0.0, camera=camera_to(thing, 0.0, 0.0, fov)) for fov in (40.0, 60.0)])
    for y in (6.0, 24.0):
        memory.add([sighting(thing, 0.0, y), sighting(neighbour, 0.0, y)])
    assert len(memory.objects()) == 3
    first, second, _ = (found.id for found in memory.objects())
    assert memory.merge() == ([(first, second)] if merge else [])
    assert len(memory.objects()) == (2 if merge else 3)
    assert memory.merge() == []
    if merge:
        assert {view.number for view in memory.objects()[0].views} == {0, 1, 2, 4}
        assert memory.get(second) == memory.get(first)
        assert memory.objects_near(at(4.0, 14.0), 2.0, "trash bin") == memory.objects()[:1]
        assert VisualMemory.open(tmp_path).objects() == memory.objects()


def test_things_that_one_panorama_shows_apart_are_never_merged(tmp_path: Path) -> None:
    """Even where a setting makes their positions indistinct."""
    blurred = settings().model_copy(update={"position_m": 3.0})
    memory = VisualMemory.open(tmp_path, blurred)
    for y in (0.0, 10.0, 30.0, 40.0):
        memory.add([sighting(thing, 0.0, y) for thing in (Thing(5.0, 20.0), Thing(5.0, 22.0))])
    assert memory.merge() == []
    assert memory.counts() == {"trash bin": 2}


@pytest.mark.parametrize("together", [True, False])
def test_two_that_no_panorama_shows_together_are_one(tmp_path: Path, together: bool) -> None:
    """Where a panorama stands 6 m off, positions alone are undecided."""
    thing = Thing(0.0, 10.0)
    blurred = settings().model_copy(update={"position_m": 1.5, "heading_error_deg": 2.0})
    memory = VisualMemory.open(tmp_path, blurred)
    memory.add([sighting(thing, 0.0, 0.0)])[0]
    off = [sighting(Thing(6.0, 10.0), 6.0, 0.0, pano_id="off")]
    if together:
        off.append(sighting(thing, 6.0, 0.0, pano_id="off"))
    memory.add(off)
    assert len(memory.objects()) == 2
    joined = memory.merge()
    assert len(joined) == (0 if together else 1)
    reasons = [record.reason for record in memory.history() if record.kind == "joined"]
    assert all("no panorama shows both" in reason for reason in reasons)


def test_two_far_from_each_other_stay_two_though_no_panorama_shows_both(tmp_path: Path) -> None:
    blurred = settings().model_copy(update={"position_m": 4.0})
    memory = VisualMemory.open(tmp_path, blurred)
    memory.add([sighting(Thing(0.0, 10.0), 0.0, 0.0)])[0]
    memory.add([sighting(Thing(12.0, 10.0), 12.0, 0.0)])[0]
    assert memory.merge() == []


def test_boxes_that_touch_in_one_look_are_never_merged(memory: VisualMemory) -> None:
    """From one panorama they cover a little of the same directions, and both seem to stand in one place."""

    def touching(heading: float, left: float) -> Sighting:
        view = View("here", Camera(heading, 0.0, 60.0), np.full((640, 640, 3), 90, np.uint8))
        return Sighting("trash bin", 0.8, view, (left, 400.0, left + 30.0, 440.0), at(0.0, 0.0))

    memory.add([touching(0.0, 300.0), touching(0.5, 315.0)])
    assert len(memory.objects()) == 2
    assert memory.merge() == []


def test_settings_for_real_street_view_differ_in_poses_only() -> None:
    real, made = memory_settings("street-view"), memory_settings()
    assert real.position_m > made.position_m
    assert real.heading_error_deg > made.heading_error_deg
    poses = {"position_m": made.position_m, "heading_error_deg": made.heading_error_deg}
    assert real.model_copy(update=poses) == made


def test_reports_can_ask_for_more_than_one_panorama_or_for_confidence(memory: VisualMemory) -> None:
    sure, unsure = Thing(5.0, 10.0), Thing(-5.0, 30.0)
    memory.add([sighting(sure, 0.0, 0.0, score=0.7)])[0]
    memory.add([sighting(sure, 0.0, 8.0, score=0.7)])[0]
    memory.add([sighting(sure, 0.0, 8.0, score=0.6, camera=camera_to(sure, 0.0, 8.0, 60.0))])[0]
    memory.add([sighting(unsure, 0.0, 20.0, score=0.6)])[0]
    assert memory.counts() == {"trash bin": 2}
    assert memory.counts(min_panoramas=2) == {"trash bin": 1}
    confidences = [thing.confidence for thing in memory.objects()]
    assert confidences == pytest.approx([1 - 0.3 * 0.3, 0.6])
    assert memory.objects(min_confidence=0.8) == memory.objects()[:1]


def test_objects_are_found_by_label_and_place(memory: VisualMemory) -> None:
    memory.add([sighting(Thing(5.0, 10.0), 0.0, 0.0)])[0]
    bench = memory.add([sighting(Thing(-5.0, 20.0, label="bench"), 0.0, 10.0)])[0]
    assert [thing.id for thing in memory.objects("bench")] == [bench.object_id]
    assert [thing.id for thing in memory.objects_near(at(-5.0, 20.0), 3.0, "bench")] == [bench.object_id]
    assert memory.objects_near(at(-5.0, 20.0), 3.0, "trash bin") == []
    assert memory.objects_near(at(-5.0, 20.0), 3.0, "cat") == []
    assert memory.get("bench-9") is None


def test_sightings_are_held_against_what_is_near_only(memory: VisualMemory) -> None:
    for i in range(30):
        memory.add([sighting(Thing(5.0, 10.0 + 300.0 * i), 0.0, 300.0 * i)])[0]
    assert len(memory.objects()) == 30
    assert len(memory.add([sighting(Thing(5.0, 10.0), 0.0, 4.0)])[0].comparisons) == 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ({"score": 1.2}, "score"),
        ({"score": float("nan")}, "score"),
        ({"label": " "}, "label"),
        ({"box": (10.0, 10.0, 10.0, 40.0)}, "box"),
        ({"box": (40.0, 10.0, 10.0, 40.0)}, "box"),
        ({"box": (float("nan"), 10.0, 20.0, 40.0)}, "box"),
        ({"box": (500.0, 10.0, 600.0, 40.0)}, "box"),
        ({"position": LatLng(float("nan"), 0.0)}, "position"),
        ({"position": LatLng(91.0, 0.0)}, "position"),
    ],
)
def test_absurd_sightings_are_refused_and_leave_nothing(
    memory: VisualMemory, fault: dict[str, object], words: str
) -> None:
    good = sighting(Thing(5.0, 10.0), 0.0, 0.0)
    with pytest.raises(BadInput, match=words) as refused:
        memory.add([good, replace(good, **fault)])
    assert "\n" not in str(refused.value)
    assert memory.objects() == []
    assert not (memory.folder / "memory.jsonl").exists()


def test_a_picture_of_another_size_than_its_camera_is_refused(memory: VisualMemory) -> None:
    good = sighting(Thing(5.0, 10.0), 0.0, 0.0)
    bad = replace(good, view=replace(good.view, pixels=np.zeros((10, 10, 3), np.uint8)))
    with pytest.raises(BadInput, match="10, 10, 3"):
        memory.add([bad])[0]


def test_look_arounds_come_one_by_one(memory: VisualMemory) -> None:
    with pytest.raises(BadInput, match="one panorama at a time"):
        memory.add([sighting(Thing(5.0, 10.0), 0.0, y) for y in (0.0, 10.0)])
    assert memory.add([]) == []


def test_boxes_that_stick_out_are_cut_at_the_picture(memory: VisualMemory) -> None:
    good = sighting(Thing(5.0, 10.0), 0.0, 0.0)
    memory.add([replace(good, box=(-5.0, 20.0, 40.0, 900.0))])[0]
    assert memory.objects()[0].views[0].box == (0.0, 20.0, 40.0, 160.0)


def test_settings_that_are_not_there_are_named() -> None:
    assert memory_settings().height(" Trash Bin ") == 1.0
    assert settings().height("statue") is None
    with pytest.raises(UnknownName, match="default"):
        memory_settings("nonsense")


def test_the_far_side_of_the_world_is_no_special_case(tmp_path: Path) -> None:
    """Across the date line."""
    memory = open_memory(tmp_path)
    origin = LatLng(-16.5, 179.99995)
    thing = Thing(12.0, 10.0)
    for x in (0.0, 10.0, 20.0):
        memory.add([sighting(thing, x, 0.0, origin=origin)])[0]
    (only,) = memory.objects()
    assert only.estimate.position.lng < 0
