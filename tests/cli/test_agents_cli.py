"""`virl agents` and `virl new`."""

from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from virl.agent.character_file import agent_names, load_character
from virl.cli.main import app


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)


def virl(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def refused(*arguments: str) -> str:
    done = virl(*arguments)
    assert done.exit_code == 2, done.output
    lines = done.stderr.strip().splitlines()
    [line] = [line for line in lines if not line.startswith("Reading ")]  # said on a busy machine
    return line


def test_every_agent_has_one_line_with_what_must_think_for_it() -> None:
    lines = {line.split()[0]: line for line in virl("agents").stdout.splitlines() if line.strip()}
    assert set(agent_names()) <= set(lines)
    assert [name for name in agent_names() if "(mind: none)" in lines[name]] == ["imani", "rx399"]
    assert lines["Run"].endswith("The mind is rules or a model where none is named.")
    assert "photographer" in lines["mira"]


def test_characters_of_this_folder_are_listed_too_and_other_files_are_not(tmp_path: Path) -> None:
    assert virl("new", "zoe").exit_code == 0
    (tmp_path / "notes.yaml").write_text("milk: 2\n")
    told = virl("agents").stdout
    assert "zoe.yaml" in told
    assert "notes.yaml" not in told


@pytest.mark.parametrize(("more", "by_tools"), [([], False), (["--tools"], True)])
def test_a_new_character_is_ready_to_run(tmp_path: Path, more: list[str], by_tools: bool) -> None:
    done = virl("new", "zoe", *more)
    assert done.exit_code == 0, done.output
    assert "Edit it, then run: virl run zoe.yaml\n" in done.stdout
    character = load_character(tmp_path / "zoe.yaml")
    assert (character.name, character.lives_by_tools) == ("Zoe", by_tools)
    assert character.routine == (None if by_tools else "explore")


def test_every_line_that_is_left_out_of_a_new_character_can_be_put_in(tmp_path: Path) -> None:
    virl("new", "zoe")
    path = tmp_path / "zoe.yaml"
    lines = path.read_text().splitlines()
    left_out = [
        line for line in lines if line.startswith(("# ", "  # ")) and ": " in line and "  # " in line[3:]
    ]
    assert len(left_out) >= 8
    path.write_text("\n".join(line.replace("# ", "", 1) if line in left_out else line for line in lines))
    character = load_character(path)
    assert (character.heading, character.senses.pictures, character.limits.minutes) == (90, True, 30)
    assert character.tools


@pytest.mark.parametrize("name", ["no", "null", "on"])
def test_a_name_that_yaml_takes_for_something_else_stays_a_name(tmp_path: Path, name: str) -> None:
    assert virl("new", name).exit_code == 0
    assert load_character(tmp_path / f"{name}.yaml").name == name.capitalize()


@pytest.mark.parametrize("agent", ["hiro", "rx399", "mira"])
def test_a_character_from_another_one_is_its_own(tmp_path: Path, agent: str) -> None:
    done = virl("new", "my-zoe", "--from", agent)
    assert done.exit_code == 0, done.output
    copied, given = (
        load_character(tmp_path / "my-zoe.yaml"),
        load_character(Path(__file__).parents[2] / f"agents/{agent}.yaml"),
    )
    assert copied.name == "My Zoe"
    assert copied.intention == given.intention.replace(given.name, "My Zoe")
    assert copied.about == (given.about or f"does what {given.name} does")
    own = {"name", "routine", "intention", "about", "background"}
    assert copied.model_dump(exclude=own) == given.model_dump(exclude=own)
    assert copied.routine == (None if given.lives_by_tools else given.routine or agent)
    text = (tmp_path / "my-zoe.yaml").read_text()
    head, *rest = text.split("\nname: ")
    assert head.startswith(f"# My Zoe: adapted from {agent}.yaml.")
    assert "virl run my-zoe.yaml" in head
    assert "virl new" not in text
    assert "#" in rest[0], "its comments are kept"


@pytest.mark.parametrize(
    ("name", "file", "kept"),
    [
        ("Zoë K", "zoe-k.yaml", "Zoë K"),
        ("O\N{RIGHT SINGLE QUOTATION MARK}Neil", "o-neil.yaml", "O'Neil"),
        ("my-hiro", "my-hiro.yaml", "My Hiro"),
        ("春日 はるが", "春日-はるが.yaml", "春日 はるが"),
        ("Ada_2", "ada_2.yaml", "Ada_2"),
    ],
)
def test_any_name_gets_a_plain_file_and_is_kept(tmp_path: Path, name: str, file: str, kept: str) -> None:
    done = virl("new", name)
    assert done.exit_code == 0, done.output
    assert load_character(tmp_path / file).name == kept


def test_a_copy_of_an_agent_without_routine_names_the_one_it_follows(tmp_path: Path) -> None:
    data = yaml.safe_load((Path(__file__).parents[2] / "agents/hiro.yaml").read_text())
    del data["routine"]
    (tmp_path / "wanderer.yaml").write_text(yaml.safe_dump(data))
    assert virl("new", "zoe", "--from", "wanderer.yaml").exit_code == 0
    assert load_character(tmp_path / "zoe.yaml").routine == "wanderer"


def test_what_is_there_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "zoe.yaml").write_text("mine")
    assert "zoe.yaml: already exists" in refused("new", "zoe")
    assert (tmp_path / "zoe.yaml").read_text() == "mine"


def test_bad_names_and_options_write_nothing(tmp_path: Path) -> None:
    assert "is not a valid character name" in refused("new", "../zoe")
    assert "is not a valid character name" in refused("new", "zoe.yaml")
    assert "is not a valid character name" in refused("new", "zoe\nage: 3")
    assert "is not a valid character name" in refused("new", "z" * 61)
    assert "unknown agent 'hero': did you mean 'hiro'?" in refused("new", "zoe", "--from", "hero")
    assert "--from or --tools" in refused("new", "zoe", "--from", "hiro", "--tools")
    region = (Path(__file__).parents[2] / "agents/imani.yaml").read_text() + "region: park.txt\n"
    (tmp_path / "planner.yaml").write_text(region)
    (tmp_path / "park.txt").write_text("41.24, -38.76\n41.24, -38.75\n41.25, -38.75\n")
    assert "copy both files by hand" in refused("new", "zoe", "--from", "planner.yaml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["park.txt", "planner.yaml"]


def test_minds_that_cannot_use_tools_for_what_is_wanted_are_refused_before_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VIRL_MIND", "OPENAI_API_KEY", "OPENAI_BASE_URL", "VIRL_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for agent in ("mira", "otto", "june"):
        line = refused("run", agent, "--set", "intention=Tanzen")
        assert "the rules do not understand the intention" in line
        assert "--mind openai:MODEL" in line
    assert "the rules speak English only" in refused(
        "run", "hiro", "--set", "intention=春日は店を探しています"
    )
    assert "OPENAI_API_KEY" in refused("run", "mira", "--mind", "openai:gpt-5-mini")
    monkeypatch.setenv("VIRL_BASE_URL", "http://127.0.0.1:9")
    assert "cannot call tools" in refused("run", "mira", "--mind", "openai-completion:some")
    assert not list(tmp_path.iterdir())
