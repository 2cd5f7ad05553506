"""What the shell completes, asked for as a shell asks."""

import subprocess
import sys
from pathlib import Path

import pytest
from made_package import install_plugin
from typer.testing import CliRunner

from virl.agent.character_file import agent_names
from virl.bench.benchmark import benchmark_names
from virl.cli import completion
from virl.cli.main import app
from virl.mind.providers import KEYS
from virl.platform.movers.open_mover import MOVERS
from virl.platform.perception.models import model_names
from virl.platform.perception.registry import ROLES
from virl.platform.providers.cities import city_names
from virl.platform.providers.graph.city import MARKS

HEAVY = ("numpy", "pydantic", "jinja2", "shapely", "cv2", "langchain_core")


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("VIRL_BASE_URL", *(key for keys in KEYS.values() for key in keys)):
        monkeypatch.delenv(name, raising=False)


def completed(line: str) -> list[str]:
    """What bash is told for a line whose last word is being typed."""
    words = line.split(" ")
    asked = {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1), "_VIRL_COMPLETE": "complete_bash"}
    done = CliRunner().invoke(app, [], env=asked, prog_name="virl")
    assert done.stderr == ""
    return done.stdout.split()


def test_agents_and_the_character_files_of_this_folder(tmp_path: Path) -> None:
    (tmp_path / "zoe.yaml").write_text("name: Zoe\n")
    assert completed("virl run ") == sorted([*agent_names(), "zoe.yaml"])
    assert completed("virl run h") == ["hiro"]
    assert completed("virl new zoe --from mi") == ["mira"]


def test_cities() -> None:
    assert completed("virl run hiro --city ") == city_names()
    assert completed("virl collect places --city lon") == ["london"]
    assert completed("virl bench exploration --city virlt") == ["virlton", "virlton-http"]


def test_models_by_their_role() -> None:
    assert completed("virl run hiro --detector ") == model_names("detector")
    assert completed("virl collect places --recognizer ") == model_names("recognizer")
    assert set(completed("virl models --try ")) == {name for role in ROLES for name in model_names(role)}


def test_minds_are_those_that_have_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(completion.minds()) == ["rules"]
    monkeypatch.setenv("ANTHROPIC_API_KEY", "made")
    assert list(completion.minds()) == ["rules", "anthropic:"]
    monkeypatch.setenv("VIRL_BASE_URL", "http://127.0.0.1:9")
    assert {"openai:", "openai-completion:"} <= set(completion.minds())
    assert completed("virl narrate run --mind ru") == ["rules"]


def test_benchmarks_with_their_options() -> None:
    assert set(completed("virl bench ")) == {*benchmark_names(), "list", "report"}
    assert completed("virl bench list pl") == ["place-localization", "place-recognition", "place-vqa"]
    assert completed("virl bench exploration --policy h") == ["hiro", "hiro-random-roads"]
    assert completed("virl bench exploration --st") == ["--starts"]


def test_data_sets_movers_and_commands() -> None:
    assert set(MARKS) <= set(completed("virl data "))
    assert completed("virl run hiro --mover ") == sorted(MOVERS)
    assert completed("virl r") == ["run"]


def test_names_of_packages_are_completed_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install_plugin(monkeypatch, tmp_path / "site")
    assert completed("virl run mi") == ["mina", "mira"]
    assert completed("virl run hiro --city cr") == ["crossville"]
    assert completed("virl run hiro --detector co") == ["coloured-signs"]
    assert "find-the-sign" in completed("virl bench f")


def test_a_fault_completes_nothing() -> None:
    def broken() -> list[str]:
        raise OSError("no such disk")

    assert completion.completer(broken)("h") == []


@pytest.mark.slow
def test_a_shell_does_not_wait_for_heavy_packages() -> None:
    loaded = f"import sys, virl.cli.main; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
