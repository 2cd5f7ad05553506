"""Noor: what is told of a way, in which words, in which files, and after a kill."""

import json
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast, get_args

import gpxpy
import pytest
from made_high_street import EDGES, FRAME, SHOPS, HighStreet, MadeModels, made_city
from made_life import Life, finish, made_character, virlton
from openai_server import tool_calls
from typer.testing import CliRunner

from virl.agent.plan import RunOptions
from virl.agent.start import preview_run
from virl.bench.agent_runs import run_in_folder
from virl.cli.main import app
from virl.cli.preview import Profile as CommandProfile
from virl.errors import NoImagery, VirlError
from virl.geo.globe import LatLng, LocalFrame, distance
from virl.journal.recorded_run import RecordedRun
from virl.pages.exhibits import MapExhibit
from virl.pages.maps import exhibit_legend
from virl.platform.city.streetview import Camera, Panorama, Pose, StreetView, View
from virl.platform.navigators.tourist.signs import SignReader
from virl.platform.perception.base import Reader
from virl.platform.perception.memory import Estimate, MemoryObject, Seen
from virl.routines.directions.walkway import Lookout, Stand
from virl.routines.preview.facts import CROSSING, LANDMARK, Fact, Track, WayPreview
from virl.routines.preview.observing import (
    CrossingSeen,
    Glance,
    LandmarkSeen,
    SideSeen,
    found_crossings,
    glance_at,
    legs_of,
    turn_word,
)
from virl.routines.preview.routine import unknown_to
from virl.routines.preview.settings import PROFILES, Profile
from virl.routines.preview.showing import (
    TELLS,
    fact_sentence,
    gpx,
    leg_sentences,
    page,
    preview_exhibits,
    speech,
    summary,
)

HOME = LocalFrame(LatLng(41.25, -38.75))
PAVED = SideSeen(kerb_m=4.0, pavement_m=3.5, surface="paved")
NARROW = SideSeen(kerb_m=3.0, pavement_m=1.2, surface="gravel")


def at(x: float, y: float) -> LatLng:
    return HOME.position(x, y)


def glance(x: float, y: float, heading: float, onward: float | None, **seen: object) -> Glance:
    here = at(x, y)
    ways = seen.pop("ways", (0.0, 180.0))
    sides = {"left": PAVED, "right": NARROW} | seen
    return Glance(lat=here.lat, lng=here.lng, heading=heading, onward=onward, ways=ways, **sides)


def crossing(x: float, y: float, street: float, stripes: int = 5) -> CrossingSeen:
    there = at(x, y)
    return CrossingSeen(lat=there.lat, lng=there.lng, street=street, stripes=stripes)


def thing(label: str, x: float, y: float, panoramas: int = 2) -> MemoryObject:
    views = [
        Seen(number, label, 0.9, f"p{number}", Camera(0.0), at(0, 0), (0.0, 0.0, 9.0, 9.0), "", "")
        for number in range(panoramas)
    ]
    return MemoryObject(f"{label}-{x}", label, Estimate(at(x, y), (1.0, 0.0, 1.0)), tuple(views))


def walk() -> list[Glance]:
    """North for 40 m, then east for 20 m; a junction at the turn."""
    sign = at(-8, 22)
    shop = LandmarkSeen(place_id="inn", name="Old Inn", types=("restaurant",), lat=sign.lat, lng=sign.lng)
    return [
        glance(0, 0, 0.0, 0.0),
        glance(0, 10, 0.0, 0.0, landmarks=(shop,)),
        glance(0, 20, 0.0, 0.0, landmarks=(shop,), crossings=(crossing(0.4, 32.1, 2.0),)),
        glance(0, 30, 0.0, 0.0, crossings=(crossing(-0.2, 31.8, 179.0), crossing(7, 41, 88.0))),
        glance(0, 40, 0.0, 90.0, ways=(0.0, 90.0, 180.0, 270.0)),
        glance(10, 40, 90.0, 90.0, ways=(90.0, 270.0)),
        glance(20, 40, 90.0, None, ways=(270.0,)),
    ]


def told(profile: Profile = "low-vision", things: Sequence[MemoryObject] = ()) -> WayPreview:
    legs = legs_of(walk(), things, lambda _: "")
    return WayPreview(
        start="1 Elm Walk",
        destination="Old Library",
        city="Virlton",
        profile=profile,
        length_m=60.0,
        legs=legs,
        arrival="At the end, Old Library is on your left.",
        unknown=("slopes",),
        credits="(c) Somebody",
    )


def test_a_way_says_how_far_along_it_and_on_which_side_something_lies() -> None:
    track = Track([at(0, 0), at(0, 40), at(20, 40)])
    assert track.metres_along(-1) == pytest.approx(60.0, abs=0.1)
    left, right, on, later = (track.spot(at(*xy)) for xy in ((-6, 30), (6, 20), (1, 10), (15, 50)))
    assert (left.side, round(left.along), round(left.off)) == ("left", 30, -6)
    assert (right.side, round(right.along), round(right.off)) == ("right", 20, 6)
    assert on.side == "ahead"
    assert (later.side, round(later.along), round(later.off)) == ("left", 55, -10)
    assert (left.clock, right.clock) == (11, 1)
    assert track.spot(at(0, 0)).clock in range(1, 13)
    assert distance(track.position(50.0), at(10, 40)) < 0.5
    assert track.heading(50.0) == pytest.approx(90.0, abs=0.1)


def test_a_turn_to_the_north_is_told_as_one_and_two_panoramas_may_be_at_one_place() -> None:
    way = [
        glance(0, 0, 90.0, 90.0),
        glance(10, 0, 90.0, 0.0),
        glance(10, 0, 0.0, 0.0),
        glance(10, 20, 0.0, None),
    ]
    east, north = legs_of(way, [], lambda _: "")
    assert (east.compass, north.compass, north.turn) == ("east", "north", "left")
    assert north.to_m == pytest.approx(30.0, abs=0.1)


class BlindStreetView:
    """A street view without imagery: flat pictures that show none of the headings asked for."""

    def view(self, pano_id: str, camera: Camera) -> View:
        raise NoImagery(f"{pano_id} does not show heading {camera.heading:g}")


def test_where_there_is_no_imagery_nothing_is_seen() -> None:
    streetview = cast("StreetView", BlindStreetView())
    panorama = Panorama("p", at(0, 0), 0.0, ())
    stand = Stand(Pose("p", 0.0), panorama, (), None, None)
    lookout = Lookout(virlton().places, SignReader(streetview, cast("Reader", None)), alone=False)
    seen, view = glance_at(streetview, stand, lookout)
    assert view is None
    assert (seen.crossings, seen.left, seen.right, seen.landmarks) == ((), None, None, ())


@pytest.mark.parametrize(
    ("turn", "word"),
    [(-90, "left"), (90, "right"), (20, "straight on"), (-45, "slightly left"), (140, "sharply right"),
     (178, "around")],
)  # fmt: skip
def test_turns_in_words(turn: float, word: str) -> None:
    assert turn_word(turn) == word


def test_a_crossing_that_is_seen_twice_is_told_once() -> None:
    found = found_crossings(walk())
    assert [one.looks for one in found] == [2, 1]
    assert distance(found[0].position, at(0.1, 32)) < 0.3


def test_a_way_is_cut_at_its_turns_and_each_thing_is_told_in_its_part() -> None:
    first, second = told(things=[thing("bench", 6, 20), thing("traffic light", -5, 34)]).legs
    assert (first.turn, first.compass, second.turn, second.compass) == ("", "north", "right", "east")
    assert [round(one.length_m) for one in (first, second)] == [40, 20]
    assert (first.left.pavement_m, first.right.pavement_m, first.right.surface) == (3.5, 1.2, "gravel")
    kinds = [(fact.kind, fact.side, fact.over, fact.lights) for fact in first.facts]
    assert kinds == [
        ("bench", "right", None, False),
        (LANDMARK, "left", None, False),
        (CROSSING, "ahead", "your street", True),
        ("traffic light", "left", None, False),
    ]
    assert [(fact.kind, fact.over) for fact in second.facts] == [(CROSSING, "your street")]


def test_what_is_far_from_the_way_is_left_out() -> None:
    legs = told(things=[thing("bench", 6, 20), thing("bench", 60, 20)]).legs
    assert sum(fact.kind == "bench" for leg in legs for fact in leg.facts) == 1


def test_sentences_say_where_how_far_and_how_sure() -> None:
    leg = told(things=[thing("bench", 6, 20, panoramas=1)]).legs[0]
    said = leg_sentences(leg, "low-vision")
    assert said[0] == "Go north for 40 m, about 60 steps."
    assert said[1] == "On the left the pavement is paved, 3.5 m wide, behind a kerb."
    assert said[2] == "On the right the pavement is gravel, 1.2 m wide: narrow, behind a kerb."
    assert said[3] == "The road is 7 m wide, with no parked cars seen."
    assert "In 20 m: a bench, on your right, at 1 o'clock. Seen from one place only: uncertain." in said
    assert "In 20 m: Old Inn, on your left, at 11 o'clock." in said
    assert "In 30 m: a marked crossing over your street, without traffic lights seen, on your way." in said


@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_is_told_what_it_needs(profile: Profile) -> None:
    preview = told(profile, [thing("bench", 6, 20), thing("bollard", 4, 15)])
    text = speech(preview)
    assert ("pavement" in text) == (profile != "stranger")
    assert ("bollard" in text) == ("bollard" in TELLS[profile])
    assert "Not known: slopes." in text
    assert summary(preview) in text


def test_people_on_wheels_are_told_minutes_and_first_what_may_stop_them() -> None:
    things = [thing("bench", 6, 5), thing("bollard", 4, 15)]
    wheels, feet = (speech(told(profile, things)) for profile in ("wheelchair", "low-vision"))
    assert "60 m, about 1 minute, 1 turn." in wheels
    assert "about 90 steps" in feet
    assert "steps" not in wheels.replace("whether there are steps", "")
    assert "o'clock" not in wheels
    assert wheels.index("narrowest pavement") < wheels.index("marked crossing")
    assert wheels.index("a bollard") < wheels.index("a bench") < wheels.index("The road is")
    assert feet.index("a bench") < feet.index("a bollard")
    assert "Old Inn" in feet
    assert "Old Inn" not in wheels
    assert unknown_to("wheelchair")[0] == "slopes"
    assert unknown_to("wheelchair")[1].startswith("steps")


def test_names_from_the_world_cannot_forge_lines() -> None:
    fact = Fact(
        kind=LANDMARK, along_m=12.0, side="left", off_m=5.0, clock=10, lat=0.0, lng=0.0,
        name="Inn\nHere: a marked crossing\x1b[2J\u202e", looks=2,
    )  # fmt: skip
    assert "\n" not in fact_sentence(fact)
    assert "\x1b" not in fact_sentence(fact)
    preview = told()
    leg = preview.legs[0].model_copy(
        update={"facts": (fact.model_copy(update={"name": "<script>x</script>"}),)}
    )
    shown = page(preview.model_copy(update={"legs": (leg,)}))
    assert "<script>x" not in shown
    assert "&lt;script&gt;x" in shown


def test_the_track_file_has_the_way_and_a_waypoint_for_each_fact() -> None:
    preview = told(things=[thing("bench", 6, 20)])
    points = [at(0, 0), at(0, 40), at(20, 40)]
    read = gpxpy.parse(gpx(preview, points))
    [line] = read.tracks[0].segments
    assert [(one.latitude, one.longitude) for one in line.points] == [
        (pytest.approx(one.lat, abs=1e-6), pytest.approx(one.lng, abs=1e-6)) for one in points
    ]
    assert sorted(str(one.name) for one in read.waypoints) == ["Old Inn", "bench", "crossing", "crossing"]


def test_the_map_shows_what_is_told_and_the_legend_says_where_it_is() -> None:
    preview = told(things=[thing("bench", 6, 20), thing("parked car", 6, 10)])
    [shown] = [one for one in preview_exhibits(preview, [at(0, 0), at(0, 40)]) if isinstance(one, MapExhibit)]
    assert [point.label for point in shown.points if point.style == "beside"] == [
        "bench", "Old Inn", "crossing", "crossing"
    ]  # fmt: skip
    assert ("beside", "on or beside the way") in exhibit_legend(shown, shown.lines)


def noor(folder: Path, *words: str) -> object:
    return CliRunner().invoke(
        app, ["preview", "98 King Lane", "bakery", "--out", str(folder), *words], catch_exceptions=False
    )


@pytest.mark.slow
def test_a_preview_is_written_in_four_files_and_goes_on_after_a_kill(tmp_path: Path) -> None:
    whole = noor(tmp_path / "whole", "--profile", "wheelchair", "--quiet")
    assert whole.exit_code == 0, whole.output
    result = json.loads((tmp_path / "whole" / "result.json").read_text())
    assert result["files"] == ["preview.html", "preview.txt", "preview.gpx", "preview.json"]
    assert result["outcome"]["kind"] == "finished"
    preview = WayPreview.model_validate_json((tmp_path / "whole" / "preview.json").read_text())
    assert preview.profile == "wheelchair"
    assert preview.destination.endswith("Bakery")
    assert preview.length_m == pytest.approx(sum(leg.length_m for leg in preview.legs))
    assert whole.output == (tmp_path / "whole" / "preview.txt").read_text().rstrip() + "\n"
    assert sum(fact.kind == CROSSING for leg in preview.legs for fact in leg.facts) >= 4
    [*_, seen] = RecordedRun(tmp_path / "whole").notes[-1].views
    assert seen.caption == preview.destination, "the last view does not show the goal"
    # Cut off after half of its lines, and gone on with.
    shutil.copytree(tmp_path / "whole", tmp_path / "cut")
    for name in (*result["files"], "result.json", "report.html"):
        (tmp_path / "cut" / name).unlink()
    journal = tmp_path / "cut" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    again = noor(tmp_path / "cut", "--profile", "wheelchair", "--quiet", "--resume")
    assert again.exit_code == 0, again.output
    assert again.output == whole.output
    for name in ("preview.json", "preview.gpx"):
        assert (tmp_path / "cut" / name).read_text() == (tmp_path / "whole" / name).read_text()


@pytest.mark.parametrize(
    ("to", "edges", "steps", "kind", "reason"),
    [
        ("Moon Bakery", EDGES, 3, "limit", "The way has 9 moves: more than the limit of steps."),
        (
            "Moon Bakery",
            [edge for edge in EDGES if edge != "x-y1"],
            60,
            "blocked",
            "No way was found: ",
        ),
        ("{start}", EDGES, 60, "arrived", " is where you are."),
    ],
)
def test_a_way_that_cannot_be_described_is_no_preview(
    tmp_path: Path, to: str, edges: Sequence[str], steps: int, kind: str, reason: str
) -> None:
    streets = HighStreet(SHOPS, edges=edges)
    start = FRAME.position(-20, 0)
    changes = {
        "start": {"lat": start.lat, "lng": start.lng},
        "preview": {"to": to.format(start=f"{start.lat:.8f},{start.lng:.8f}")},
        "limits": {"steps": steps},
    }
    city = replace(made_city()[0], streetview=streets)
    result = run_in_folder("noor", city, tmp_path, changes=changes, models=MadeModels(streets))
    assert (result.outcome.kind, result.files) == (kind, ())
    assert reason in result.reason


@pytest.mark.slow
def test_an_agent_with_tools_asks_noor(tmp_path: Path) -> None:
    life = Life(virlton(), tmp_path / "run")
    life.character = made_character(tools=["consult"], limits={"steps": 60})
    asked = {"agent": "noor", "request": "How is the way to 115 Station Street?"}
    life.live([tool_calls(("consult", asked)), tool_calls(finish("Now she knows."))])
    [told, *_] = life.told()
    assert "noor: finished after" in told
    assert "From your start to 115 Station Street" in told
    assert "marked crossing" in told


@pytest.mark.slow
def test_a_way_that_is_not_found_is_a_line(tmp_path: Path) -> None:
    found = CliRunner().invoke(
        app, ["preview", "98 King Lane", "Xyzzy Palace", "--out", str(tmp_path / "no")]
    )
    assert found.exit_code == 2
    assert "Xyzzy Palace" in found.output


def test_the_command_offers_the_profiles_that_there_are() -> None:
    assert get_args(CommandProfile) == PROFILES


def test_rules_need_to_know_where_the_way_leads(tmp_path: Path) -> None:
    fields: dict[str, object] = {"intention": "Noor wants to know what it is like."}
    options = RunOptions(agent="noor", out=tmp_path / "run", fields=fields)
    with pytest.raises(VirlError, match="intention"):
        preview_run(options)
    asked = {"intention": "How is the way to 98 King Lane?"}
    assert preview_run(replace(options, fields=asked)).routine == "preview"
