"""Films of runs: read back, and refused in a line where there is nothing to show."""

import json
import shutil
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import av
import numpy as np
import PIL.Image
import PIL.ImageDraw
import pytest
from made_exhibits import keep_made_choice
from made_run import keep_made_run, start_record
from typer.testing import CliRunner, Result

from virl.cli.main import app
from virl.errors import BadInput
from virl.film import frames
from virl.film.frames import MOST_LINES, Sheet, wrap_words
from virl.film.story import Moment, Rank, Story, read_story, schedule, view_of_place
from virl.film.write import open_sheet, write_film
from virl.journal.journal import JOURNAL, Journal, read_journal
from virl.journal.records import DetectionRecord, NoteRecord, StepRecord, ViewRecord
from virl.pages.exhibits import MapExhibit, MapLine, MapPoint
from virl.pages.ground import MapGround
from virl.pages.maps import map_figure

SIZE = 320, 240
SMALL = ("--width", str(SIZE[0]), "--height", str(SIZE[1]), "--seconds", "8")
RECORDED = Path(__file__).parents[1] / "data" / "made-by-3ed9348b" / "runs"
INSET = slice(138, 230), slice(190, 310)  # rows and columns of the map in the corner


def film(run: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["film", str(run), *SMALL, *options])


def frames_of(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def test_a_film_shows_the_views_and_the_path_as_it_grows(tmp_path: Path) -> None:
    run = keep_made_run(tmp_path / "run", size=160)
    done = film(run, "--megabytes", "0.5")
    assert done.exit_code == 0, done.output
    path = run / "film.webm"
    assert str(path) in done.stdout
    assert path.stat().st_size <= 500_000
    frames = frames_of(path)
    assert 40 <= len(frames) <= 80  # of 8 s
    assert {frame.shape for frame in frames} == {(SIZE[1], SIZE[0], 3)}
    assert not np.array_equal(frames[0][:120], frames[-1][:120])
    route = [
        int(np.sum(shown[..., 2] - shown[..., 0].astype(int) > 90))
        for shown in (one[INSET] for one in frames)
    ]
    assert route[-1] > 2 * route[0] > 0, "the path does not grow"


def test_marks_are_laid_out_once_and_ends_are_pins_as_on_reports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    laid = []
    monkeypatch.setattr(frames, "map_figure", lambda *told: laid.append(map_figure(*told)) or laid[-1])
    sheet = open_sheet(keep_made_run(tmp_path / "run", size=64), SIZE)
    for index in (0, 5, len(sheet.story.moments) - 1):
        sheet.draw(index)
    (figure,) = laid
    assert [(one.kind, one.label) for one in figure.marks if one.shape == "pin"] == [
        ("step from", "Start"),
        ("step enter", "End"),
    ]
    assert len(figure.paths[0].points) == len(sheet.story.moments[-1].path), "names keep off the whole path"


def test_the_route_of_a_plan_grows_with_the_places_that_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ways = []
    drawn = frames.draw_picture
    monkeypatch.setattr(
        frames, "draw_picture", lambda of, size: ways.append(len(of.paths)) or drawn(of, size)
    )
    ends = [(41.0, -38.0), (41.002, -38.0), (41.002, -37.998)]
    points = [MapPoint(lat=lat, lng=lng, label=name) for (lat, lng), name in zip(ends, "ABC", strict=True)]
    lines = tuple(MapLine(points=pair) for pair in pairwise(ends))
    told = [(Rank.NOTE, "A"), (Rank.NOTE, "at B"), (Rank.NOTE, "at C"), (Rank.END, "done")]
    moments = [Moment(tmp_path, (), 0, rank, "", said) for rank, said in told]
    story = Story("", "", moments, [(tmp_path, MapExhibit(title="", points=tuple(points), lines=lines))])
    sheet = Sheet(story, MapGround(), SIZE)
    for index in range(4):
        sheet.draw(index)
    assert ways == [0, 1, 2, 2]
    story.maps[:] = [(tmp_path, MapExhibit(title="", lines=lines))]
    Sheet(story, MapGround(), SIZE).draw(0)
    assert ways[-1] == 2, "lines to no place are drawn, too"


def test_an_animated_picture_plays_again_and_again(tmp_path: Path) -> None:
    out = tmp_path / "run.webp"
    assert film(keep_made_run(tmp_path / "run", steps=5, size=160), "--out", str(out)).exit_code == 0
    with PIL.Image.open(out) as picture:
        assert picture.size == SIZE
        assert picture.n_frames >= 5
        assert picture.info["loop"] == 0


def test_a_run_without_views_is_shown_on_its_map(tmp_path: Path) -> None:
    story = read_story(keep_made_choice(tmp_path / "run"))
    sheet = Sheet(story, MapGround(), SIZE)
    first, last = (np.asarray(sheet.draw(index)) for index in (0, len(story.moments) - 1))
    assert not np.array_equal(first[:150], last[:150]), "what was found does not appear"


def with_signs(view: ViewRecord, *texts: str) -> ViewRecord:
    found = [DetectionRecord(label="sign", score=1, box=(0, 0, 9, 9), text=text) for text in texts]
    return view.model_copy(update={"detections": tuple(found)})


def test_words_of_a_place_belong_to_their_view(tmp_path: Path) -> None:
    run = keep_made_run(tmp_path / "run", size=64)
    step = next(one for one in read_journal(run) if isinstance(one, StepRecord) and one.places)
    [place], [ahead, aside] = step.places, [one for one in step.views if one.purpose == "look"][1:]
    read, other = with_signs(ahead, "Hotel", "ella Napol"), with_signs(aside, "Hotel")
    for views, seen in (
        ([other, read], with_signs(ahead, "ella Napol")),
        ([ahead, other], other),  # which faces the place
        ([ahead], None),
    ):
        assert view_of_place(place, step.model_copy(update={"views": views})) == seen
    told = [(one.said, one.view) for one in read_story(RECORDED / "otto-finished").moments]
    [view, _] = [view for said, view in told if "Pharmacie" in said and view]
    assert [found.text for found in view.detections] == ["Pharmacie Girau"]


def test_words_do_not_name_a_place_twice(tmp_path: Path) -> None:
    run = keep_made_run(tmp_path / "run", size=64)
    *before, end = (run / JOURNAL).read_text().splitlines()
    last = json.loads(end)
    note = NoteRecord(seq=last["seq"], topic="picture", key="p", title="Pho", text="A photo of Pho.")
    last["seq"] += 1
    (run / JOURNAL).write_text("\n".join([*before, note.model_dump_json(), json.dumps(last), ""]))
    assert "A photo of Pho." in [one.said for one in read_story(run).moments]


def test_a_film_ends_with_the_picture_of_the_page() -> None:
    ends = [read_story(RECORDED / run).moments[-1] for run in ("otto-finished", "rx399-limited")]
    [sign], [thing] = [one.view.detections if one.view else () for one in ends]
    assert (sign.text, thing.label) == ("Pharmacie Girau", "trash bin")
    assert [one.is_marked for one in ends] == [False, True]


@pytest.mark.slow
@pytest.mark.parametrize("run", sorted(one.name for one in RECORDED.iterdir() if one.is_dir()))
def test_runs_of_all_kinds_of_agents_are_filmed(run: str, tmp_path: Path) -> None:
    out = tmp_path / "film.webm"
    done = film(RECORDED / run, "--out", str(out))
    assert done.exit_code == 0, done.output
    assert any(not np.array_equal(*pair) for pair in pairwise(frames_of(out)))


def test_words_that_do_not_fit_end_with_a_sentence() -> None:
    pen = PIL.ImageDraw.Draw(PIL.Image.new("RGB", (400, 100)))
    first = "Enters The Copper Kettle, which serves breakfast all day and is open until six."
    more = f"{first} {'Then it goes on ' * 40}"
    assert " ".join(wrap_words(pen, more, 20, 400)) == first
    clauses = f"Enters the old inn. Nothing speaks against it; {'it goes on and on ' * 40}"
    assert " ".join(wrap_words(pen, clauses, 40, 400)) == "Enters the old inn. Nothing speaks against it"
    lines = wrap_words(pen, "Enters St. Mary's, " + "and so on " * 40, 20, 400)
    assert lines[-1].endswith(" …")
    assert len(lines) == MOST_LINES
    assert wrap_words(pen, "", 20, 400) == []


def test_long_runs_fit_and_keep_their_end() -> None:
    story = read_story(RECORDED / "otto-finished")
    moments = story.moments[:-1] * 40 + story.moments[-1:]
    plan = schedule(moments, 30, 10)
    assert sum(frames for _, frames in plan) <= 300
    assert [index for index, _ in plan] == sorted({index for index, _ in plan})
    assert plan[-1][0] == len(moments) - 1
    told = [index for index, _ in plan if moments[index].rank >= Rank.NOTE]
    assert max(after - before for before, after in pairwise(told)) < len(moments) / 3, (
        "not spread over the run"
    )


def damage(run: Path, how: str) -> None:
    journal, views = run / "journal.jsonl", sorted((run / "views").glob("0001-*"))
    if how == "no journal":
        journal.unlink()
    elif how == "an empty journal":
        journal.write_bytes(b"")
    elif how == "a broken line":
        journal.write_bytes(journal.read_bytes().replace(b'"kind":"step"', b'"kind":"stop"', 1))
    elif how == "no pictures":
        shutil.rmtree(run / "views")
    elif how == "a lost picture":
        for view in views:
            view.unlink()
    else:
        for view in views:
            view.write_bytes(view.read_bytes()[:900])


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("no journal", "no such journal"),
        ("an empty journal", "journal.jsonl"),
        ("a broken line", "line 2"),
        ("no pictures", "its pictures are missing"),
        ("a lost picture", "views/"),
        ("a cut picture", "not a readable picture"),
    ],
)
def test_a_damaged_run_is_refused_in_a_line(how: str, said: str, tmp_path: Path) -> None:
    run = keep_made_run(tmp_path / "run", steps=3, size=160)
    damage(run, how)
    refused(film(run), said)
    assert not list(run.glob("*film*"))


def test_a_run_with_nothing_to_show_is_refused_in_a_line(tmp_path: Path) -> None:
    Journal.create(tmp_path / "run", start_record()).close()
    refused(film(tmp_path / "run"), "no pictures yet")
    refused(film(RECORDED / "iris-killed", "--out", "run.avi"), ".webm or .webp")


def refused(done: Result, said: str) -> None:
    assert done.exit_code == 2, done.output
    [line] = done.stderr.strip().splitlines()
    assert said in line


def test_a_film_that_cannot_be_small_enough_is_refused(tmp_path: Path) -> None:
    run, out = keep_made_run(tmp_path / "run", steps=2, size=160), tmp_path / "film.webm"
    with pytest.raises(BadInput, match="at the lowest quality"):
        write_film(
            open_sheet(run, SIZE), out, seconds=5, most_bytes=1000, bar=lambda _: nullcontext(lambda: None)
        )
    assert not out.exists()


def test_without_the_extra_a_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("virl.extras.missing_packages", list)
    refused(film(keep_made_run(tmp_path / "run", steps=1, size=160)), "pip install 'virl[film]'")


def test_an_interrupted_film_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    run = keep_made_run(tmp_path / "run", steps=2, size=160)
    (run / "film.webm").write_bytes(b"old")
    monkeypatch.setattr(Sheet, "draw", stop)
    assert film(run).exit_code == 130
    assert [(one.name, one.read_bytes()) for one in run.glob("*film*")] == [("film.webm", b"old")]
