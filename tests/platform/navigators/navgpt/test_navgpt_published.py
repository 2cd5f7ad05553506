import json
from math import radians

import pytest
from made_building import IDS, NAMES, made_building

from virl.errors import BadInput, NoStreetView
from virl.platform.navigators.navgpt.observation import Thing, observation_text
from virl.platform.navigators.navgpt.sources import read_published, ways_from

SENTENCES, WAYS = "observations_list_summarized/s.json", "navigable/s_navigable.json"
OBJECTS, SUMMARIES = "objects_list/s.json", "observations_summarized/s_summarized.json"


@pytest.fixture
def graph():
    return made_building()


@pytest.fixture
def files(graph):
    """What the four files of the made building hold; headings of ways in (-pi, pi]."""
    return {
        SENTENCES: {IDS[name]: [f"{name} {number}" for number in range(8)] for name in NAMES},
        WAYS: {
            viewpoint: {
                way.pano_id: {
                    "heading": radians(way.heading if way.heading <= 180 else way.heading - 360),
                    "elevation": -0.1,
                    "distance": way.distance,
                }
                for way in ways_from(graph, viewpoint)
            }
            for viewpoint in graph.ids
        },
        OBJECTS: {
            viewpoint: [{"lamp": {"heading": -10.0, "distance": 1.5}}, *[{}] * 7] for viewpoint in graph.ids
        },
        SUMMARIES: {IDS["hall"]: "A hall."},
    }


def read(folder, files, graph):
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_published(folder, "s", graph)


def test_what_the_files_hold_is_observed(tmp_path, files, graph):
    published = read(tmp_path, files, graph)
    hall = published.at(IDS["hall"])
    assert hall.sentences[3] == "hall 3"
    assert hall.things == (Thing("lamp", 350.0, 1.5),)
    assert hall.summary == "A hall."
    assert published.at(IDS["attic"]).summary == ""
    for made, stored in zip(ways_from(graph, IDS["hall"]), hall.ways, strict=True):
        assert (made.pano_id, made.distance) == (stored.pano_id, stored.distance)
        assert stored.heading == pytest.approx(made.heading)
    assert 'Front objects within 3 m: {"lamp": "left 10.00, 1.50 m"}' in observation_text(hall, 0.0)
    with pytest.raises(NoStreetView, match="nowhere"):
        published.at("nowhere")


@pytest.mark.parametrize("angle", [-0.2, 6.1, 6.2831, -6.2, 0.39, -3.2])
def test_no_heading_is_lost(tmp_path, files, graph, angle):
    files[WAYS][IDS["hall"]][IDS["bath"]]["heading"] = angle
    text = observation_text(read(tmp_path, files, graph).at(IDS["hall"]), 123.4)
    assert text.count(IDS["bath"]) == 1


def test_objects_and_summaries_may_be_missing(tmp_path, files, graph):
    published = read(tmp_path, {name: files[name] for name in (SENTENCES, WAYS)}, graph)
    assert published.at(IDS["hall"]).things is None
    assert published.at(IDS["hall"]).summary == ""


def test_files_may_be_called_by_the_scan_alone(tmp_path, files, graph):
    files["navigable/s.json"] = files.pop(WAYS)
    files["observations_summarized/s.json"] = files.pop(SUMMARIES)
    assert read(tmp_path, files, graph).at(IDS["hall"]).summary == "A hall."


def damage(name, *keys, value):
    def apply(files):
        part = files[name]
        for key in keys[:-1]:
            part = part[key]
        part[keys[-1]] = value

    return apply


HALL, BATH = IDS["hall"], IDS["bath"]


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (damage(SENTENCES, HALL, value=["x"] * 7), rf"s\.json: {HALL}: .*8 items"),
        (damage(SENTENCES, HALL, 2, value=None), rf"s\.json: {HALL}\.2: .*string"),
        (damage(WAYS, HALL, BATH, "heading", value=250.0), rf"navigable.json: {HALL}\.{BATH}\.heading"),
        (damage(WAYS, HALL, BATH, "distance", value=-1), "greater than or equal to 0"),
        (
            damage(WAYS, HALL, IDS["attic"], value={"heading": 0, "distance": 1}),
            f"{IDS['attic']} is not linked",
        ),
        (damage(OBJECTS, HALL, value=[{}]), "objects_list/s.json.*8 items"),
        (damage(SUMMARIES, HALL, value=3), "s_summarized.json.*string"),
        (lambda files: files[SENTENCES].pop(HALL), f"no sentences for {HALL}"),
        (lambda files: files[WAYS].pop(HALL), f"no neighbours for {HALL}"),
        (lambda files: files.pop(SENTENCES), "s.json: no such file"),
        (lambda files: files.pop(WAYS), "s_navigable.json: no such file"),
        (lambda files: files.update({WAYS: "{ nan"}), "navigable.json: file: Invalid JSON"),
        (lambda files: files[WAYS][HALL][BATH].update(heading=float("nan")), "heading"),
        (lambda files: files[SENTENCES].update({key: [] for key in files[SENTENCES]}), "and 1 more"),
    ],
)
def test_faults_are_named_with_their_file(tmp_path, files, graph, harm, words):
    harm(files)
    with pytest.raises(BadInput, match=words) as caught:
        read(tmp_path, files, graph)
    assert "\n" not in str(caught.value)
