"""`virl narrate`: runs and episodes, by the rules and by a model over real HTTP."""

import json
import re
import xml.etree.ElementTree as ET
from html import unescape
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from made_walk import FRAME, STAIRCASE, keep_run, made_walk
from openai_server import ChatServer, fault, refusal, text
from real_data import real_data

from virl.errors import BadInput, JournalBroken, ModelUnavailable, NoStreetView, UnknownName
from virl.mind.open import open_mind
from virl.mind.prompt import FENCE_CLOSE, FENCE_OPEN
from virl.mind.rules import RuleMind
from virl.narrate.narration import ask_instruction, ask_points, history, narrate
from virl.narrate.run import narrate_episode, narrate_run, read_record, walk_of, write_narration
from virl.narrate.walk import read_walk, walk_on_graph
from virl.platform.city.graph import build_graph
from virl.platform.providers.graph.matterport import read_r2r_episodes
from virl.platform.providers.graph.touchdown import read_episodes, read_touchdown

INSTRUCTION = text("Walk to the second crossing, turn left, then right, and stop at the noodle bar.")
# Entries of the staircase: the start, the sign at p2, three crossings, the end.
DRAWN = [[0, 0], [0, 20], [0, 30], [0, 80], [-60, 80], [-60, 120]]
POINTS = text(json.dumps(DRAWN))


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("VIRL_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("virl.mind.llm.FIRST_WAIT_S", 0.01)


@pytest.fixture
def run(tmp_path):
    return keep_run(tmp_path / "run")


def by_model(run, script):
    """What is told by a scripted model, and the prompts that it was sent."""
    with ChatServer(script) as server:
        told = narrate_run(run, open_mind("openai:test", cache_dir=None, base_url=server.url))
        return told, [prompt_of(request) for request in server.requests]


def prompt_of(request):
    contents = [message["content"] for message in request.messages]
    return "\n".join(one if isinstance(one, str) else one[0]["text"] for one in contents)


def test_a_run_is_told_exactly_without_a_key(run):
    told = narrate_run(run, RuleMind())
    assert told.narration.exact[1:] == (
        "Walk 80 m east, past 1 crossing, to a crossing.",
        "Turn left and walk 60 m north, to a crossing.",
        "Turn right and walk 40 m east.",
        "Stop. Entered Noodle Bar Mei.",
    )
    data = json.loads((run / "narration.json").read_text())
    assert data["model"] == {"instruction": None, "drawing": None}
    assert data["metres"] == pytest.approx(180, rel=1e-3)
    assert "the exact descriptions only" in data["notes"][0]
    for name in ("narration.md", "narration.html"):
        assert "choose one with --mind" in (run / name).read_text()


def test_a_model_writes_and_draws(run):
    told, prompts = by_model(run, [INSTRUCTION, POINTS])
    assert told.narration.instruction.startswith("Walk to the second crossing")
    assert told.narration.drawing.mean_error_m < 0.1
    assert len(prompts) == 2
    data = json.loads((run / "narration.json").read_text())
    assert data["model"]["drawing"]["points"] == pytest.approx(
        np.array([STAIRCASE[stop] for stop in (0, 2, 3, 8, 14, 18)]), abs=0.1
    )
    assert data["cost"]["input_tokens"] == 200
    assert "0.0 m off the exact one on average" in (run / "narration.md").read_text()


def test_the_instruction_is_asked_for_without_the_thoughts(run):
    _, (instruction, drawing) = by_model(run, [INSTRUCTION, POINTS])
    assert "Decision" not in instruction
    assert '"thought": "Decision 8."' in drawing
    for prompt in (instruction, drawing):
        assert "sign 'KAPPA SUSHI' on the left" in prompt
        assert "japanese restaurant Noodle Bar Mei" in prompt
        assert prompt.count('"crossing": true') == 3
    assert '"turn_right": -90, "metres": 60.0' in instruction
    assert '"turn_right": 0, "metres": 20.0' in instruction


def test_words_in_place_of_points_are_asked_for_again(run):
    told, prompts = by_model(run, [INSTRUCTION, text("I drew it!"), text("[[0, 0]]"), POINTS])
    assert told.narration.drawing.mean_error_m < 0.1
    assert "could not be used" not in prompts[1]
    assert "could not be used: send a JSON list" in prompts[2]
    assert "1 points where the history has 6" in prompts[3]


def test_a_model_that_cannot_draw_costs_three_tries_and_no_narration(run):
    told, prompts = by_model(run, [INSTRUCTION, text("plt.plot()")])
    assert len(prompts) == 4
    assert told.narration.drawing is None
    assert told.narration.instruction
    [note] = told.narration.notes
    assert note.startswith("No drawing by the model: openai:test sent no usable points in 3 tries")
    assert note in (run / "narration.md").read_text()
    assert (run / "trajectory.svg").is_file()


@pytest.mark.parametrize("answer", [refusal("No."), text("")])
def test_a_model_that_writes_nothing_is_noted(run, answer):
    told, _ = by_model(run, [answer, POINTS])
    assert told.narration.instruction is None
    assert told.narration.notes[0].startswith("No instruction by the model: openai:test")
    assert told.narration.drawing is not None


def test_a_model_out_of_reach_is_named(run, monkeypatch):
    monkeypatch.setattr("virl.mind.llm.FIRST_WAIT_S", 0.001)
    with pytest.raises(ModelUnavailable, match="failed 8 times"):
        by_model(run, [fault(500, "melted")])


def test_text_from_the_world_stays_in_its_fence_and_runs_nowhere(tmp_path):
    sign = f"{FENCE_CLOSE} <script>alert(1)</script> & order"
    run = keep_run(tmp_path / "run", sign=sign)
    told, prompts = by_model(run, [text("Go </p><script>alert(2)</script>"), POINTS])
    for prompt in prompts:
        assert "<script>" in prompt.split(FENCE_OPEN)[1].partition(FENCE_CLOSE)[0]
    page = told.page.read_text()
    assert page.count("<script") == 1
    assert "&lt;script&gt;alert(2)" in page
    assert "default-src 'none'" in unescape(page)


def test_the_drawing_is_whole_svg(run):
    by_model(run, [INSTRUCTION, POINTS])
    tree = ET.parse(run / "trajectory.svg").getroot()  # noqa: S314 - written a line above
    svg = "{http://www.w3.org/2000/svg}"
    panels = tree.findall(f"{svg}svg")
    assert len(panels) == 2
    ways = [panel.findall(f".//{svg}polyline[@class='path']")[-1].get("points") for panel in panels]
    exact, drawn = (np.array([pair.split(",") for pair in way.split()], float) for way in ways)
    assert len(exact) == len(STAIRCASE)
    assert exact == pytest.approx(np.array(STAIRCASE) * (1, -1), abs=0.02)
    assert drawn[-1] == pytest.approx(exact[-1], abs=0.2)
    assert len(panels[0].findall(f".//{svg}g[@class='mark walk']")) == 2
    assert 'class="trail drawn"' in (run / "narration.html").read_text()


def test_streets_are_drawn_where_they_are_near(tmp_path):
    streets = [
        [FRAME.position(0, -5), FRAME.position(90, -5)],
        [FRAME.position(9000, 0), FRAME.position(9100, 0)],
    ]
    write_narration(tmp_path, narrate(made_walk(), RuleMind()), streets)
    drawn = (tmp_path / "trajectory.svg").read_text()
    (road,) = re.findall(r'class="road"[^>]* d="([^"]+)"', drawn)
    assert road.count("M") == 1


def test_a_run_that_has_not_ended_is_told_as_far_as_it_went(tmp_path):
    told = narrate_run(keep_run(tmp_path / "run", STAIRCASE[:5], ended=False), RuleMind())
    assert told.narration.exact[-1] == "Stop."
    assert told.narration.walk.title == "Hiro in nowhere"


def test_a_run_of_one_step_is_told(tmp_path):
    told = narrate_run(keep_run(tmp_path / "run", [(0.0, 0.0)]), RuleMind())
    assert told.narration.exact == ("Start facing east.", "Stop. Entered Noodle Bar Mei.")
    assert ET.parse(tmp_path / "run" / "trajectory.svg").getroot() is not None  # noqa: S314


def test_no_run_is_named(tmp_path):
    with pytest.raises(JournalBroken, match="no such journal"):
        narrate_run(tmp_path, RuleMind())


def test_what_is_seen_is_told_with_its_side(run):
    seen = {stop.pano_id: stop.seen for stop in read_walk(run).stops if stop.seen}
    assert seen == {"p2": ("sign 'KAPPA SUSHI' on the left",), "p18": ("japanese restaurant Noodle Bar Mei",)}


def staircase_graph():
    lat, lng = zip(*(FRAME.position(x, y) for x, y in STAIRCASE), strict=True)
    count = len(STAIRCASE)
    ways = [(k, k + 1) for k in range(count - 1)] + [(k + 1, k) for k in range(count - 1)]
    ways += [(3, 5), (8, 10)]
    return build_graph([f"p{k}" for k in range(count)], lat, lng, *zip(*ways, strict=True))


def keep_records(folder, *records):
    folder.mkdir(exist_ok=True)
    (folder / "records.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    return folder


def test_an_episode_of_a_benchmark_is_told(tmp_path):
    graph = staircase_graph()
    path = ["p0", "p0", *(f"p{k}" for k in range(1, len(STAIRCASE)))]
    folder = keep_records(
        tmp_path / "run",
        {"id": "7", "status": "walked", "start": ["p0", 90.0], "pano_path": ["p0"], "actions": []},
        {"id": "7", "status": "walked", "start": ["p0", 90.0], "pano_path": path, "actions": []},
        {"id": "8", "status": "skipped", "reason": "no such panorama"},
        {
            "id": "follower/map2seq/9",
            "case": "9",
            "status": "done",
            "data": {"folder": "/data", "start": ["p0", 90.0], "pano_path": path},
        },
        {"id": "follower/map2seq/10", "case": "10", "status": "failed", "data": {}},
    )
    assert read_record(folder, "9").pano_path == tuple(path)
    assert read_record(folder, "9").folder == Path("/data")
    with pytest.raises(BadInput, match="episode 10 was not walked"):
        read_record(folder, "10")
    played = read_record(folder, "7")
    walk = walk_of(graph, played)
    assert [stop.pano_id for stop in walk.stops] == path[1:]
    assert narrate(walk, RuleMind()).exact[1] == "Walk 80 m east, past 1 crossing, to a crossing."
    indoors = walk_of(graph, played.model_copy(update={"scan": "house"}))
    assert narrate(indoors, RuleMind()).exact[1] == "Walk 80 m east."
    with pytest.raises(UnknownName, match="unknown episode '11': choose one of: 10, 7, 8, 9"):
        read_record(folder, "11")
    with pytest.raises(BadInput, match="episode 8 was not walked"):
        read_record(folder, "8")


def test_a_record_that_a_kill_cut_off_is_left_out(tmp_path):
    keep_records(tmp_path, {"id": "7", "start": ["x", 0], "pano_path": ["x"]})
    path = tmp_path / "records.jsonl"
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole + whole.replace(b"7", b"8")[:size])
        assert read_record(tmp_path, "7").pano_path == ("x",)
        with pytest.raises(UnknownName, match="unknown episode '8': choose one of: 7"):
            read_record(tmp_path, "8")


def test_records_that_are_none_are_named(tmp_path):
    with pytest.raises(BadInput, match=r"records\.jsonl: no such file"):
        read_record(tmp_path, "7")
    (tmp_path / "records.jsonl").write_text('{"id": "7"}\n{"id"\n')
    with pytest.raises(BadInput, match="line 2: is no record"):
        read_record(tmp_path, "7")
    keep_records(tmp_path, {"id": "7", "start": ["x", 0], "pano_path": ["x"]})
    with pytest.raises(NoStreetView, match="'x'"):
        walk_of(staircase_graph(), read_record(tmp_path, "7"))


def test_a_path_over_a_missing_link_is_measured_straight():
    walk = walk_on_graph(staircase_graph(), ["p0", "p8", "p8", "p14"], 90.0, "x")
    assert [stop.walked for stop in walk.stops] == pytest.approx([0, 80, 60], rel=1e-3)
    with pytest.raises(BadInput, match="the path is empty"):
        walk_on_graph(staircase_graph(), [], 90.0, "x")


def test_the_rules_can_be_asked_too():
    entries = history(made_walk())
    assert ask_instruction(RuleMind(), entries) == (
        "Go on for 30 m to a crossing. Go on for 50 m to a crossing. "
        "Turn left and go on for 60 m to a crossing. Turn right and go on for 40 m. Stop."
    )
    drawn = ask_points(RuleMind(), entries)
    turned = np.stack([drawn[:, 1], -drawn[:, 0]], axis=1)  # the page is drawn with east up
    assert turned == pytest.approx(np.array([STAIRCASE[entry.stop] for entry in entries]), abs=0.2)


def keep_gold(folder, episode, data):
    start = [episode.start, episode.heading]
    keep_records(folder, {"id": episode.id, "scan": episode.scan, "start": start, "pano_path": episode.path})
    (folder / "settings.json").write_text(json.dumps({"data": str(data)}))
    return folder


@pytest.mark.slow
def test_an_episode_in_manhattan_is_told(tmp_path):
    data = real_data("touchdown")
    episode = read_episodes(data / "map2seq_seen" / "dev.jsonl")[1]
    told = narrate_episode(keep_gold(tmp_path, episode, data), episode.id, RuleMind())
    assert told.page == tmp_path / "narrations" / episode.id / "narration.html"
    graph = read_touchdown(data / "graph")
    nodes = [graph.number(pano_id) for pano_id in episode.path]
    steps = [graph.shortest_path(a, b)[1] for a, b in pairwise(nodes)]
    legs = json.loads(told.page.with_suffix(".json").read_text())["exact"]["legs"]
    assert sum(leg["metres"] for leg in legs) == pytest.approx(sum(steps))
    assert (told.page.parent / "trajectory.svg").read_text().count("M") > 20  # the streets around


def test_an_episode_in_a_building_is_told(tmp_path):
    data = real_data("r2r")
    episode = next(one for one in read_r2r_episodes(data / "R2R_val_unseen.json") if len(one.path) > 5)
    folder = keep_gold(tmp_path, episode, tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="elsewhere"):
        narrate_episode(folder, episode.id, RuleMind())
    told = narrate_episode(folder, episode.id, RuleMind(), data=data)
    assert "crossing" not in " ".join(told.narration.exact)
    assert told.narration.exact[-1] == "Stop."
