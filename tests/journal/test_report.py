import shutil
from base64 import b64decode
from html.parser import HTMLParser
from io import BytesIO
from pathlib import Path

import numpy as np
import PIL.Image
import pytest
from made_run import PATH, keep_made_run, made_city

from virl.errors import CannotWrite, JournalBroken
from virl.journal import report
from virl.journal.film import moments, shown_views, view_of_end
from virl.journal.journal import read_journal
from virl.journal.records import CostRecord, DetectionRecord, NoteRecord, Result, StepRecord, ViewRecord
from virl.journal.report import write_report
from virl.journal.share import SHARE
from virl.journal.signs import sign_crops
from virl.journal.story import (
    Gap,
    Stretch,
    chapters,
    groups_of,
    headline_of,
    kind_of,
    moments_of,
    reason_of,
    shorten_story,
)
from virl.mind.prompt import NOT_ORDERS
from virl.pages import pictures

HOSTILE = """</title></style></svg>'"><script>document.title="owned"</script><img src=x onerror=alert(1)>"""


class Page(HTMLParser):
    """What a browser would make of a page: its elements and its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def all(self, tag: str, kind: str = "") -> list[dict[str, str]]:
        return [
            attributes
            for name, attributes in self.elements
            if name == tag and (not kind or kind in attributes.get("class", "").split())
        ]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return keep_made_run(tmp_path_factory.mktemp("runs") / "hiro", size=160)


def test_the_page_tells_who_where_how_it_ended_and_by_what_mind(run: Path) -> None:
    page = Page(write_report(run, made_city()))
    assert "Hiro in Testville" in page.text
    assert "4 May 2026, 11:30 UTC" in page.text
    assert "Entered Noodle Bar Mei 20 steps · 201 m · " in page.text
    assert "japanese restaurant · restaurant" in page.text
    assert "4.4 128 reviews $" in page.text
    assert "rules (a baseline without a language model)" in page.text
    assert "views 72 model calls 0" in page.text


def test_a_model_is_named_with_what_it_cost(tmp_path: Path) -> None:
    page = Page(write_report(keep_made_run(tmp_path / "run", mind="openai:gpt-5-mini", size=64)))
    assert "mind openai:gpt-5-mini" in page.text
    assert "model calls 5 + 2 cached tokens in / out 2800 / 240 cost $0.0124 time 17 s" in page.text
    assert "baseline" not in page.text


def test_every_step_is_on_the_map_and_in_the_story(run: Path) -> None:
    page = Page(write_report(run, made_city()))
    steps = [f"step-{index}" for index in range(len(PATH))]
    anchors = [attributes["id"] for tag, attributes in page.elements if tag == "li" and "id" in attributes]
    assert anchors == steps
    assert {mark["href"] for mark in page.all("a", "mark")} == {f"#{step}" for step in steps}
    assert [mark["href"] for mark in page.all("a", "crossing")] == ["#step-8", "#step-15"]
    assert {pin["aria-label"] for pin in page.all("a", "pin")} == {
        "Bella Napoli: passed by",
        "Noodle Bar Mei: entered",
    }


def test_a_place_is_told_with_its_own_reason(run: Path) -> None:
    assert "Passed by Bella Napoli It is dear." in Page(write_report(run, made_city())).text


def test_without_a_city_the_map_draws_the_path_alone(run: Path) -> None:
    with_streets, without = (Page(write_report(run, city)) for city in (made_city(), None))
    assert [len(page.all("path", "road")) for page in (with_streets, without)] == [1, 0]
    assert len(with_streets.all("polyline")) == len(without.all("polyline")) == 2 * (1 + 2)
    assert "Hiro in testville" in without.text


def test_views_are_embedded_with_their_boxes_and_words_for_those_who_cannot_see(run: Path) -> None:
    page = Page(write_report(run))
    told = [step for step in chapters(steps_of(run)) if isinstance(step, StepRecord)]
    views = [view for step in told for view in step.views]
    images = page.all("img")
    assert len(images) == len(views) == 6 * 3 + 3 + 2 * 3
    assert all(image["src"].startswith("data:image/webp;base64,") for image in images)
    assert sum("restaurant" in image["alt"] for image in images) == 6
    assert len(page.all("svg", "boxes")) == 6
    assert "restaurant 86 % “KAPPA SUSHI”" in page.text


def steps_of(run: Path) -> list[StepRecord]:
    return [record for record in read_journal(run) if isinstance(record, StepRecord)]


def test_a_long_stretch_of_quiet_steps_takes_little_of_the_filmstrip(run: Path) -> None:
    steps = [one for one in read_journal(run) if isinstance(one, StepRecord)]
    macros = report._templates(report.TEMPLATES).get_template("macros.html.j2").make_module({})
    strip = macros.filmstrip([Stretch((*steps, *steps)[:41])])  # type: ignore[attr-defined]
    assert strip.count("<i></i>") == 1
    assert "\N{MULTIPLICATION SIGN}41</small>" in strip


def test_quiet_steps_are_folded_and_no_step_is_lost(run: Path) -> None:
    told = list(chapters(steps_of(run)))
    folded = [len(chapter.steps) if isinstance(chapter, Stretch) else 0 for chapter in told]
    assert folded == [0, 2, 0, 4, 0, 2, 0, 3, 0, 4, 0]
    assert "4 quiet steps east, 40 m" in Page(write_report(run)).text


def test_nothing_is_loaded_from_elsewhere(run: Path) -> None:
    page = Page(write_report(run, made_city()))
    for _, attributes in page.elements:
        for name in ("src", "href", "srcset", "action"):
            assert attributes.get(name, "#").startswith(("#", "data:"))
    policy = next(meta["content"] for meta in page.all("meta") if "http-equiv" in meta)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_words_of_the_world_stay_words(tmp_path: Path) -> None:
    page = Page(write_report(keep_made_run(tmp_path / "run", shop=HOSTILE, size=64), made_city()))
    assert len(page.all("script")) == 1
    assert not any(name.startswith("on") for _, attributes in page.elements for name in attributes)
    assert all(image["src"].startswith("data:") for image in page.all("img"))
    assert f"Entered {HOSTILE}" in page.text


@pytest.mark.parametrize("steps", [0, 1, 9])
def test_a_run_that_has_not_ended_has_a_report(tmp_path: Path, steps: int) -> None:
    folder = keep_made_run(tmp_path / "run", steps=steps, ended=False, size=64)
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes() + b'{"kind": "st')
    page = Page(write_report(folder, made_city()))
    assert "The run has not ended" in page.text
    assert len(page.all("svg", "north")) == (1 if steps else 0)
    assert journal.read_bytes().endswith(b'"st')


def test_a_view_that_is_missing_is_said_to_be(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", size=64)
    lost = steps_of(folder)[0].views[0].file
    (folder / lost).unlink()
    assert f"The view is not in this page: {lost}" in Page(write_report(folder)).text


@pytest.mark.slow
def test_the_page_stays_light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (640, 640, 3), np.uint8)
    PIL.Image.fromarray(noise).save(tmp_path / "0.jpg", quality=88)
    names = [f"{index}.jpg" for index in range(6)]
    for name in names[1:]:
        shutil.copy(tmp_path / "0.jpg", tmp_path / name)
    rich = pictures.embed(tmp_path, names)
    budget = 160_000
    monkeypatch.setattr(pictures, "BUDGET_BYTES", budget)
    poor = pictures.embed(tmp_path, [*names, "missing.jpg"])
    assert list(poor) == list(rich) == names
    assert sum(map(len, rich.values())) > budget * 4 / 3 >= sum(map(len, poor.values()))


def test_views_of_a_long_run_are_thinned_evenly(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (80, 80, 3), np.uint8)
    names = [f"{index}.jpg" for index in range(40)]
    for name in names:
        PIL.Image.fromarray(noise).save(tmp_path / name, quality=50)
    whole = pictures.embed(tmp_path, names)
    each = (tmp_path / "0.jpg").stat().st_size
    budget = each * 15
    thinned = pictures.embed(tmp_path, names, budget=budget)
    assert list(whole) == names
    assert list(thinned) == names[::4]
    assert sum(map(len, thinned.values())) <= budget * 1.4
    assert pictures.embed(tmp_path, names, budget=1) == {}


def test_no_journal_and_no_room_are_told(run: Path, tmp_path: Path) -> None:
    with pytest.raises(JournalBroken, match="no such journal"):
        write_report(tmp_path)
    shutil.copy(run / "journal.jsonl", tmp_path)
    (tmp_path / "report.html").mkdir()
    with pytest.raises(CannotWrite, match="write the report again"):
        write_report(tmp_path)
    assert not list(tmp_path.glob("*.part"))


def test_the_middle_of_a_long_story_is_left_out_and_said_to_be() -> None:
    notes = [
        NoteRecord(seq=number, topic="thought", key=str(number), text="x" * 500) for number in range(1, 101)
    ]
    told, size = shorten_story(notes, 40_000)
    [gap] = [one for one in told if isinstance(one, Gap)]
    assert size <= 40_000
    assert (told[0], told[-1]) == (notes[0], notes[-1])
    assert gap.notes + len(told) - 1 == len(notes)
    assert f"{gap.notes} notes are left out here" in str(gap)
    assert "journal.jsonl" in str(gap)
    assert shorten_story(notes, 10**7)[0] == notes


def ended(reason: str, **more: object) -> Result:
    made = {"agent": "a", "city": "c", "status": "finished", "steps": 1, "distance_m": 1.0, "versions": {}}
    return Result.model_validate({**made, "reason": reason, "cost": CostRecord(), **more})


@pytest.mark.parametrize(
    ("result", "headline"),
    [
        (ended("all seen", found={"trash bin": 9, "bench": 2}), "9 trash bins, 2 benches"),
        (ended("all seen", found={"trash bin": 9}, truth={"known": "", "checked": [
            {"claimed": "9", "true": "8", "holds": False, "numbers": {"right": 7.0}}]}),
         "9 trash bins, 7 of them right"),
        (ended("2 errands: 3.5 min less than given."), "2 errands: 3.5 min less than given"),
        (ended("From A to St. B: 265 m. On the way: no benches."), "From A to St. B: 265 m"),
        (ended("the road ends: nothing is open", status="gave up"), "The road ends: nothing is open"),
        (ended("1 A St for Peng: 8 of 10.", place={"id": "a", "name": "1 A St", "decision": "enter",
               "reason": "", "types": (), "lat": 0, "lng": 0}), "Found 1 A St"),
        (None, "The run has not ended"),
    ],
)  # fmt: skip
def test_the_headline_is_what_came_of_the_task_and_whole(result: Result | None, headline: str) -> None:
    assert headline_of(result)[0] == headline
    assert not headline_of(result)[1].startswith("1 A St")


def view(file: str, **fields: object) -> ViewRecord:
    made = {"file": file, "pano_id": "p", "heading": 0, "pitch": 0, "fov": 60, "width": 64, "height": 64}
    return ViewRecord.model_validate(made | fields)


def test_a_view_is_shown_once_and_large_is_the_one_that_answers() -> None:
    found = DetectionRecord(label="sign", score=0.9, box=(0, 0, 1, 1), text="Bakery")
    views = view("a"), view("b", heading=359, detections=(found,)), view("c", heading=40), view("d", fov=90)
    told = [NoteRecord(seq=1, topic="glance", key=one.file, text="", views=(one,)) for one in views]
    shown = shown_views(told)
    assert [one.file for one in shown] == ["b", "c", "d"]
    assert [one.file for one, _ in moments(told)[0].views] == ["b", "c", "d"]
    counted, picture = ended("x", found={"sign": 1}), ended("Bakery.", answer={"picture": "c"})
    ends = [view_of_end(shown, result) for result in (ended("Bakery."), picture, counted, None)]
    assert [one and one.file for one in ends] == ["b", "c", "b", "d"]


def test_what_tools_showed_has_its_step_roads_have_headings_and_titles_do_not_repeat(tmp_path: Path) -> None:
    steps = steps_of(keep_made_run(tmp_path / "run", size=64))
    tool = NoteRecord(seq=900, topic="tool", key="1", text="x", data={"name": "read_signs"})
    assert moments_of([tool, *steps])[900] == "Step 0: Read signs"
    assert moments_of([*steps, tool])[900] == f"Step {steps[-1].step}: Read signs"
    roads = view("a", purpose="road", heading=90), view("b", purpose="road", heading=181)
    told = steps[1].model_copy(
        update={"views": roads, "decided": "Road 1 is best, not road 0 or road 7.", "decided_by": "x"}
    )
    assert reason_of(told) == "The street to the south is best, not the street to the east or road 7."
    found = [
        DetectionRecord(label="sign", score=1, box=(x, 1, x + 9, 9), text=text)
        for x, text in ((0, "rgan"), (9, "Thai"))
    ]
    seen = [one.model_copy(update={"views": (view("c", detections=found),)}) for one in steps[1:5]]
    first, second = groups_of([Stretch((steps[5],)), seen[0], Stretch((steps[6],)), seen[1]], 2)
    assert (first.title, second.title) == ("Steps 5 to 1: saw “Thai”", "Steps 6 to 2")


def test_a_start_beside_notes_is_no_step(tmp_path: Path) -> None:
    made = steps_of(keep_made_run(tmp_path / "run", steps=1, size=64))[0]
    start = made.model_copy(update={"views": (), "asked": (), "places": ()})
    assert list(chapters([start])) == [start]
    note = NoteRecord(seq=1, topic="tool", key="1", text="x")
    assert list(chapters([note, start])) == [note]


def test_a_closer_look_that_is_hardly_closer_is_not_shown() -> None:
    look, near, nearer = (
        view(f"{fov}", fov=fov, purpose="closer" if fov < 90 else "look") for fov in (90, 82, 54)
    )
    step = NoteRecord(seq=1, topic="glance", key="1", text="seen", views=(look, near, nearer))
    assert shown_views([step]) == [look, nearer]


def test_signs_are_crops_and_those_that_decided_come_first(tmp_path: Path) -> None:
    picture = PIL.Image.new("RGB", (400, 200), "white")
    picture.paste("red", (300, 80, 360, 120))
    picture.save(tmp_path / "v.jpg")
    boxes = {"Pho": [10, 10, 40, 30], "Gallery": [300, 80, 360, 120]}
    found = [{"label": "sign", "score": 1, "box": box, "text": text} for text, box in boxes.items()]
    view = {"file": "v.jpg", "pano_id": "p", "heading": 0, "pitch": 0, "fov": 90, "width": 400, "height": 200}
    seen = ViewRecord.model_validate(view | {"detections": found})
    note = NoteRecord(seq=1, topic="glance", key="1", text="seen", views=(seen,))
    named, other = sign_crops(tmp_path, [note], ended("The sign 'Gallery' shows what is looked for."))
    assert (named.text, named.is_named, other.text, other.is_named) == ("Gallery", True, "Pho", False)
    assert named.where == other.where == "Glance 1"
    [step] = steps_of(keep_made_run(tmp_path / "run", steps=1, size=64))
    tool = note.model_copy(update={"topic": "tool"})
    assert sign_crops(tmp_path, [step, tool], None)[0].where == "Step 0"
    with PIL.Image.open(BytesIO(b64decode(named.picture.partition(",")[2]))) as crop:
        assert crop.size == (88, 68)
        assert np.mean(np.asarray(crop)[14:-14, 14:-14], (0, 1)) == pytest.approx([254, 0, 0], abs=12)


def test_entries_have_icons_and_prompt_and_raw_in_tabs(run: Path) -> None:
    page = Page(write_report(run, made_city()))
    tabs = [one.get("name", "") for one in page.all("details", "tab")]
    assert len(tabs) > 4
    assert all(tabs.count(name) == 2 for name in tabs), "one of two is open"
    ids = {one.get("id", "") for _, one in page.elements}
    assert {one["href"].removeprefix("#") for one in page.all("use")} <= ids


def test_plain_steps_are_told_together(run: Path) -> None:
    steps = [step.model_copy(update={"views": ()}) for step in steps_of(run)[1:8]]
    quiet = [step for step in steps if kind_of(step) == "walk"]
    [group] = groups_of(quiet, 12)
    assert group.title == f"Steps {quiet[0].step} to {quiet[-1].step}"


def test_a_long_story_has_few_groups_and_loses_nothing() -> None:
    notes = [
        NoteRecord(seq=2 * turn + part, topic=topic, key=f"{turn:04}", text="x", data={"name": "look"})
        for turn in range(1, 40)
        for part, topic in enumerate(("thought", "tool"))
    ]
    groups = groups_of(notes, 12)
    assert len(groups) <= 12
    assert [one for group in groups for one in group.chapters] == notes
    assert groups[0].title == "Turns 1 to 4: look"
    assert groups_of(notes[:2], 12)[0].title == "Turn 1: look"


def test_a_turn_tells_its_cost_a_place_is_a_card_and_marks_for_models_are_raw(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", steps=0, ended=False, size=64)
    usage = {"input_tokens": 1830, "output_tokens": 10, "usd": 0.5}
    asked = {"prompt": "p", "mind": "m", "inputs": {}, "reply": {}} | usage
    bar = {"name": "Bar", "types": ["bar"], "rating": 4.25, "review_count": 7, "price_level": 2}
    away = {"distance_m": 80, "direction": "north"}
    place = bar | {"id": "p-1", "is_open": False, "away": away, "address": "1 Elm Walk"}
    said = f"1 of 1 places. {NOT_ORDERS}\n<<<DATA\nid p-1 | Bar | rated 4.2\nDATA>>>"
    notes: list[dict[str, object]] = [{"topic": "thought", "text": "Is there a bar?", "asked": [asked]}]
    for items in ([place], [place | {"rating": "damaged"}]):
        data = {"name": "near", "content": said, "data": {"items": items}}
        notes.append({"topic": "tool", "title": "near()", "text": "t", "data": data})
    with (folder / "journal.jsonl").open("a") as journal:
        for seq, note in enumerate(notes, 1):
            journal.write(
                NoteRecord.model_validate(note | {"seq": seq, "key": f"{seq}"}).model_dump_json() + "\n"
            )
    text = Page(write_report(folder)).text
    assert text.count("1,840 tokens · $0.5000") == 2, "of the turn, and of the thought in it"
    assert "1 of 1 places. Bar closed for good bar 4.2 7 reviews $$ 80 m north 1 Elm Walk" in text
    assert text.count("Bar · rated 4.2") == 1, "damaged data are told as lines"
    assert text.count("<<<DATA") == 2
    assert text.index("<<<DATA") > text.index("Raw")


def test_a_picture_to_share_lies_beside_the_page(run: Path) -> None:
    page = Page(write_report(run, made_city()))
    assert {"property": "og:image", "content": f"./{SHARE}"} in page.all("meta")
    with PIL.Image.open(run / SHARE) as picture:
        assert picture.size == (1200, 630)
        assert len(np.unique(np.asarray(picture)[200:500, 100:600].reshape(-1, 3), axis=0)) > 50
