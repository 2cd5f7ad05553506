"""A town of OpenStreetMap is exported as a made city is: what is said is true, and its mappers are named."""

import json
from pathlib import Path

import pytest
from clause_oracle import Surroundings, follow
from made_extract import CREDIT, NAMES, made_extract
from real_data import real_data
from typer.testing import CliRunner

from virl.cli.main import app
from virl.datasets.export.r2r import export_r2r
from virl.datasets.export.touchdown import SPLITS, export_touchdown
from virl.datasets.export.town import Town, survey
from virl.errors import BadInput
from virl.platform.providers.graph.city import open_graph_city
from virl.platform.providers.graph.matterport import read_matterport
from virl.platform.providers.graph.touchdown import read_episodes, read_touchdown
from virl.platform.providers.planned import source_of

ENDS = " Street", " Lane"


class Seen(Surroundings):
    """The surroundings as they were surveyed; lights of a mapped town stand where they are mapped."""

    def __init__(self, folder: Path, city: str) -> None:
        source = source_of(city)
        self.town: Town = survey(source)
        position = source.plan.layout.frame.position
        places = {one.name: position(one.x, one.y) for one in self.town.landmarks}
        super().__init__(read_touchdown(folder / "graph"), [], places)

    def lit(self, node: int) -> bool:
        return bool(self.town.lit[self.town.graph.number(self.graph.ids[node])])


@pytest.fixture(scope="module")
def city(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(made_extract(tmp_path_factory.mktemp("osm") / "crooked.osm.pbf"))


@pytest.fixture(scope="module")
def exported(city: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_touchdown(city, tmp_path_factory.mktemp("touchdown") / "crooked", episodes=20)


@pytest.fixture(scope="module")
def building(city: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export_r2r(city, tmp_path_factory.mktemp("r2r") / "crooked", episodes=6, radius=400.0)


def check_true(folder: Path, city: str) -> list[str]:
    """Follow every instruction by the second program; gives them."""
    around, told = Seen(folder, city), []
    for split in SPLITS:
        clauses = json.loads((folder / split / "clauses_dev.json").read_text("utf-8"))
        for episode in read_episodes(folder / split / "dev.jsonl"):
            walked = follow(around, episode.start, episode.heading, clauses[episode.id])
            assert tuple(walked) == episode.path, f"{split} {episode.id}: {episode.instruction}"
            told.append(episode.instruction)
    return told


@pytest.mark.slow
def test_every_instruction_is_true_and_names_streets(exported: Path, city: str) -> None:
    told = check_true(exported, city)
    named = [text for text in told if any(f"onto {name}{end}" in text for name in NAMES for end in ENDS)]
    assert len(named) > len(told) / 2


def test_an_export_names_who_mapped_the_town(exported: Path, building: Path, city: str) -> None:
    for folder in (exported, building):
        manifest = json.loads((folder / "export.json").read_text("utf-8"))
        assert manifest["attribution"] == CREDIT
        assert "Open Database License" in manifest["licence"]
        assert manifest["city"] == "crooked.osm.pbf"
        text = (folder / "README.md").read_text("utf-8")
        assert CREDIT in text
        assert "https://www.openstreetmap.org/copyright" in text
        assert "https://opendatacommons.org/licenses/odbl" in text
        assert str(Path(city).parent) not in text + json.dumps(manifest)
    assert open_graph_city("crooked", "Crooked", exported).attribution == CREDIT


@pytest.mark.slow
def test_a_made_city_has_no_notice(exported: Path, city: str, tmp_path: Path) -> None:
    folder = export_touchdown(city, tmp_path / "export", episodes=1)
    export_touchdown("virlton", folder, episodes=1, radius=220.0)
    assert not (folder / "README.md").exists()
    assert open_graph_city("made", "Made", folder).attribution == ""


def test_a_damaged_manifest_is_one_line(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text("[")
    (tmp_path / "graph").symlink_to(exported / "graph")
    with pytest.raises(BadInput, match="is damaged: export the city again"):
        open_graph_city("torn", "Torn", tmp_path)


def test_dead_ends_at_the_edge_of_a_part_end_no_path(city: str) -> None:
    town = survey(source_of(f"{city}@60.1715,24.943,150"))
    ends = [node for node in range(len(town.graph)) if town.graph.degree[node] == 1]
    assert ends
    assert not any(town.whole[node] for node in ends)


def test_traffic_is_named_on_one_way_streets_only(city: str) -> None:
    town = survey(source_of(city))
    lanes = [all(name.endswith("Lane") for name in names.values()) and bool(names) for names in town.streets]
    inner = [node for node in range(len(town.graph)) if town.graph.degree[node] == 2 and lanes[node]]
    assert inner
    assert all(town.driven[node] for node in inner)
    streets = [n for n, names in enumerate(town.streets) if all(x.endswith("Street") for x in names.values())]
    assert not any(town.driven[node] for node in streets if town.graph.degree[node] == 2)


@pytest.mark.slow
@pytest.mark.parametrize("agent", ["gold", "shortest"])
@pytest.mark.parametrize("benchmark", ["touchdown", "r2r"])
def test_benchmarks_run_on_it(
    benchmark: str, agent: str, exported: Path, building: Path, tmp_path: Path
) -> None:
    data = exported if benchmark == "touchdown" else building
    split = [] if benchmark == "touchdown" else ["--split", "val_unseen"]
    words = [
        "bench",
        benchmark,
        "--data",
        str(data),
        "--agent",
        agent,
        *split,
        "--out",
        str(tmp_path / "run"),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    results = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))
    key = "tc" if benchmark == "touchdown" else "success"
    assert results["rows"][0]["values"][key][0] == 1.0
    for page in ("report.html", "episodes.html"):
        assert CREDIT in (tmp_path / "run" / page).read_text("utf-8")


def test_viewpoints_are_read_again(building: Path) -> None:
    graph = read_matterport(building / "connectivity", "crooked")
    assert len(graph) > 100


@pytest.mark.parametrize("layout", ["touchdown", "r2r"])
def test_the_command_takes_a_part_of_an_extract(layout: str, city: str, tmp_path: Path) -> None:
    part = f"{city}@60.1715,24.943,200"
    words = [
        "data",
        "export",
        "--format",
        layout,
        "--city",
        part,
        "--episodes",
        "2",
        "--out",
        str(tmp_path / "x"),
    ]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    manifest = json.loads((tmp_path / "x" / "export.json").read_text("utf-8"))
    assert manifest["city"] == "crooked.osm.pbf@60.1715,24.943,200"


def test_another_city_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match="cannot be exported: choose a made city, such as 'virlton', or an Open"
    ):
        export_touchdown("london", tmp_path / "export")


@pytest.mark.slow
@pytest.mark.parametrize(
    "part",
    ["helsinki.osm.pbf@60.1699,24.9384,300", "liechtenstein.osm.pbf@47.1405,9.5217,700", "moscow.osm.gz"],
)
def test_instructions_in_real_towns_are_true(part: str, tmp_path: Path) -> None:
    city = str(real_data("osm") / part)
    folder = export_touchdown(city, tmp_path / "export", episodes=60)
    assert len(check_true(folder, city)) == 180
