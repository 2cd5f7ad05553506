"""`virl check`, `virl run --dry-run` and what `virl agents` says of files that cannot run."""

import json
from pathlib import Path

import pytest
from made_characters import write_hiro
from typer.testing import CliRunner, Result

from virl.cli.main import app


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (
        "VIRL_MIND",
        "OPENAI_API_KEY",
        "VIRL_BASE_URL",
        "GOOGLE_MAPS_API_KEY",
        "VIRL_GOOGLE_BASE_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIRL_CACHE", str(tmp_path / "cache"))


def virl(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def changed(*changes: tuple[str, str], name: str = "zoe.yaml", start: str = "91 Station Street") -> Path:
    """Hiro's file in this folder, with some of its text replaced."""
    written = write_hiro(Path(), start=start)
    text = written.read_text()
    written.unlink()
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = Path(name)
    path.write_text(text)
    return path


def refused(*arguments: object) -> list[str]:
    done = virl(*arguments)
    assert done.exit_code == 2, done.output
    return done.stderr.strip().splitlines()


@pytest.mark.slow
def test_a_file_that_can_run_is_one_line() -> None:
    done = virl("check", changed())
    assert done.exit_code == 0, done.output
    assert done.stdout == (
        "zoe.yaml: ok: routine explore in virlton, mind rules, detector sign-detector, at most 3 moves\n"
    )
    assert [one.name for one in Path().iterdir() if one.name != "cache"] == ["zoe.yaml"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("city: virlton", "city: virltn", ("line 3: city: unknown city 'virltn': did you mean 'virlton'? "
         "`virl cities` lists all 29")),
        ("city: virlton", "city: Virlton", ("line 3: city: unknown city 'Virlton': did you mean 'virlton'? "
         "`virl cities` lists all 29")),
        ("routine: hiro", "routine: hirro", "line 7: routine: unknown routine 'hirro': did you mean "),
        ("routine: hiro", "routine: explore\nsenses: {matcher: shift}",
         "line 8: senses.matcher: unknown matcher 'shift': did you mean 'sift'?"),
        ("routine: hiro", "routine: explore\nsenses:\n  detector: sign_detector",
         "line 9: senses.detector: unknown detector 'sign_detector': did you mean 'sign-detector'?"),
        ("routine: hiro", "routine: following\nfollow: {local: locl, spotter: siglipp}",
         "line 8: follow.local: unknown agent 'locl': did you mean 'local'?"),
        ("routine: hiro", "routine: counting\ncount: {things: [bench], memory: street-veiw}",
         "line 8: count.memory: unknown memory settings 'street-veiw': did you mean 'street-view'?"),
        ("routine: hiro", "routine: counting", "`route:` is missing"),
        ("routine: hiro", "routine: counting\nroute: [91 Station Street]\ncount: {things: [for rent sign]}",
         "senses.detector: sign-detector never finds 'for rent sign': choose a detector"),
        ("start: 91 Station Street", "start: 9 Nowhere Road", "line 4: start: "),
        ("start: 91 Station Street", "start: {lat: -38.75, lng: 41.25}",
         ("line 4: start: -38.750000, 41.250000 is far from Virlton, and "
         "41.250000, -38.750000 is in it: swap latitude and longitude?")),
        ("start: 91 Station Street", "start: {lat: 0, lng: 0}", "line 4: start: no street view within 800 m"),
        ("intention: Hiro is hungry and looks for an authentic local lunch that is not spicy.",
         "intention: 昼ごはんを食べたい。", "line 6: intention: the rules speak English only"),
        ("intention: Hiro is hungry and looks for an authentic local lunch that is not spicy.",
         "intention: Il a faim.", ("line 6: intention: the rules find no place type in the "
         "intention: name it in plain English")),
    ],
)  # fmt: skip
def test_what_a_run_would_stumble_over_is_named_with_its_line(old: str, new: str, message: str) -> None:
    path = changed((old, new))
    told = refused("check", path)
    assert message in told[0]
    assert told[0].startswith("zoe.yaml")
    assert message in refused("run", path)[-1 if "unknown" not in message else 0] or len(told) > 1
    assert [one.name for one in Path().iterdir() if one.name != "cache"] == ["zoe.yaml"], "nothing is written"


def test_all_names_that_do_not_exist_are_told_at_once() -> None:
    path = changed(("city: virlton", "city: virltn"), ("routine: hiro", "routine: hirro"))
    assert [line.partition(": unknown")[0] for line in refused("check", path)] == [
        "zoe.yaml, line 7: routine",
        "zoe.yaml, line 3: city",
    ]
    assert refused("run", path)[0] == "virl: 2 faults"


@pytest.mark.parametrize(
    ("senses", "parts"),
    [
        ("{detector: yolo}", ("line 8: senses.detector: unknown detector 'yolo'",)),
        ("{detector: yolo, glasses: 3}",
         ("line 8: senses.glasses: unknown", "line 8: senses.detector: unknown detector 'yolo'")),
    ],
)  # fmt: skip
def test_fields_names_blocks_and_start_are_told_together(senses: str, parts: tuple[str, ...]) -> None:
    path = changed(("routine: hiro", f"routine: errands\nsenses: {senses}"), start="7 Nowhere Lane")
    told = refused("check", path)
    parts += ("`errands:` is missing", "line 4: start: no address")
    assert len(told) == len(parts)
    assert all(part in line for part, line in zip(parts, told, strict=True)), told


@pytest.mark.parametrize(
    "command",
    [
        "run zoe.yaml --feedback none.txt",
        "run zoe.yaml --out bench",
        "bench place-localization --model nope",
        "bench vln --city atlantis --model oracle --out a/b",
        "bench touchdown --data nowhere",
        "bench place-localization --model sign-detector --out bench",
        "collect routes --city hong-kong --out a/b",
        "collect places --city virlton --out bench",
    ],
)
def test_a_refused_command_leaves_no_folder(command: str) -> None:
    changed()
    Path("bench").mkdir()
    (Path("bench") / ("journal.jsonl" if command.startswith("bench") else "records.jsonl")).touch()
    before = sorted(Path().rglob("*"))
    assert len(refused(*command.split())) == 1
    assert [one for one in sorted(Path().rglob("*")) if "cache" not in one.parts] == before


def test_a_city_that_costs_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    path = changed(("city: virlton", "city: tokyo"))
    assert "GOOGLE_MAPS_API_KEY is not set" in refused("check", path)[0]
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "made-up")
    done = virl("check", path)
    assert "zoe.yaml: not checked: the start" in done.stdout
    path = changed(("city: virlton", "city: tokyo"), start="{lat: 139.70, lng: 35.69}")
    assert "are latitude and longitude swapped?" in refused("check", path)[0]
    path = changed(("city: virlton", "city: lagos"), start="{lat: 3.42, lng: 6.43}")
    assert "swap latitude and longitude?" in refused("check", path)[0]


@pytest.mark.slow
def test_a_character_with_tools_is_checked_for_the_mind_that_is_given() -> None:
    path = changed(
        ("routine: hiro", "tools: [look, move]"),
        ("an authentic local lunch that is not spicy", "a restaurant"),
    )
    assert "mind rules" in virl("check", path, "--mind", "rules").stdout
    assert "OPENAI_API_KEY" in refused("check", path, "--mind", "openai:gpt-5-mini")[0]


def test_files_of_every_kind_are_checked_as_what_they_are(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    (tmp_path / "said.yaml").write_text("- after: 1\n  say: More art.\n")
    (tmp_path / "park.txt").write_text("35.690, 139.700\n35.690, 139.705\n35.694, 139.705\n")
    files = {
        "city": root / "platform/cities/tokyo.yaml",
        "model": root / "platform/models/sign-detector.yaml",
        "prompt": root / "prompts/explore/place-type.md",
        "provider": root / "platform/providers/google.yaml",
        "rentcast": root / "platform/providers/rentcast.yaml",
        "feedback": tmp_path / "said.yaml",
        "region": tmp_path / "park.txt",
    }
    done = virl("check", *files.values(), "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [one["kind"] for one in found] == list(files)
    assert all(one["ok"] and one["summary"] and one["faults"] == [] for one in found)


def test_the_faults_of_several_files_are_all_told(tmp_path: Path) -> None:
    (tmp_path / "town.yaml").write_text("title: A\nabout: B\nprovider: offlin\n")
    (tmp_path / "ask.md").write_text("---\nabout: A\ninputs: []\nreply: nowhere:X\n---\nHello\n")
    (tmp_path / "zoe.yaml").write_text("name: Zoe\nage: old\ncity: virlton\n")
    done = virl("check", "town.yaml", "ask.md", "zoe.yaml", "gone.yaml", "hero", "--json")
    assert done.exit_code == 2
    found = {one["file"]: one for one in json.loads(done.stdout)}
    assert (
        "line 3: provider: unknown provider 'offlin': did you mean 'offline'?"
        in found["town.yaml"]["faults"][0]
    )
    assert "ask.md, line 4: reply: nowhere:X cannot be imported" in found["ask.md"]["faults"][0]
    assert len(found["zoe.yaml"]["faults"]) == 5
    assert found["gone.yaml"]["faults"] == ["gone.yaml: no such file"]
    assert "unknown agent 'hero': did you mean 'hiro'?" in found["hero"]["faults"][0]


@pytest.mark.slow
def test_a_dry_run_says_what_would_happen_and_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    path = changed()
    done = virl("run", path, "--dry-run", "--out", "there", "--city", "virlbury", "--budget-usd", "1")
    assert done.exit_code == 0, done.output
    assert "start        91 Station Street, or the liveliest part if that is not there" in done.stdout
    done = virl("run", path, "--dry-run", "--out", "there", "--set", "limits.steps=7")
    assert done.exit_code == 0, done.output
    told = dict(line.split(maxsplit=1) for line in done.stdout.splitlines() if not line.startswith("run "))
    assert "virlton, provider offline" in told["city"]
    assert told["mover"] == "links"
    assert told["start"] == "91 Station Street"
    assert told["at"] == "most      7 moves"
    assert told["cost"].startswith("$0")
    assert "there (not written: --dry-run)" in done.stdout
    monkeypatch.setenv("GOOGLE_MAPS_API_KEY", "made-up")
    data = json.loads(virl("run", path, "--dry-run", "--json", "--city", "tokyo", "--budget-usd", "2").stdout)
    assert (data["provider"], data["network"], data["budget_usd"]) == ("google", True, 2.0)
    assert data["estimated_usd"]["static"] > data["estimated_usd"]["tiles"] > 0
    assert data["not_checked"]
    assert "about $" in virl("run", path, "--dry-run", "--city", "tokyo").stdout
    assert [one.name for one in Path().iterdir() if one.name != "cache"] == ["zoe.yaml"]


def test_a_dry_run_is_refused_as_the_run_would_be() -> None:
    path = changed()
    assert "unknown mover 'fly'" in refused("run", path, "--dry-run", "--mover", "fly")[0]
    assert "OPENAI_API_KEY" in refused("run", path, "--dry-run", "--mind", "openai:gpt-5-mini")[0]
    assert "remove --resume" in refused("run", path, "--dry-run", "--resume")[0]
    Path("full").mkdir()
    Path("full/journal.jsonl").write_text("")
    assert "full: already contains an agent's run" in refused("run", path, "--dry-run", "--out", "full")[0]


def test_agents_lists_what_cannot_run_with_the_reason_and_survives_any_file() -> None:
    changed()
    changed(("city: virlton", "city: virltn"), name="far.yaml")
    changed(("routine: hiro", "routine: hirro"), name="lost.yaml")
    changed(("age: 22", "age: old"), ("  steps: 3", "  steps: 0"), name="old.yaml")
    Path("loop.yaml").write_text("about: &a [*a]\n")
    Path("deep.yaml").write_text("about: " + "[" * 100_000)
    Path("latin.yaml").write_bytes("name: André\n".encode("latin-1"))
    Path("wide.yaml").write_bytes("name: André\n".encode("utf-16"))
    Path("begun.yaml").write_text("")
    Path("notes.yaml").write_text("milk: 2\n")
    Path("said.yaml").write_text("- after: 1\n  say: x\n")
    Path("compose.yaml").write_text("services: {web: {image: x}}\nname: shop\n")
    Path("folder.yaml").mkdir()
    done = virl("agents")
    assert done.exit_code == 0, done.output
    listed, _, broken = done.stdout.partition("Not readable:")
    assert "zoe.yaml" in listed
    assert "far.yaml" not in listed
    told = [line.strip() for line in broken.partition("Run an agent")[0].splitlines() if line.strip()]
    assert [line.split(".yaml")[0] for line in told] == [
        "begun", "deep", "far", "latin", "loop", "lost", "old", "old", "wide",
    ]  # fmt: skip
    assert told[2].startswith("far.yaml, line 3: city: unknown city 'virltn': did you mean 'virlton'?")
    assert told[3] == "latin.yaml, line 1: the byte 0xe9 is not UTF-8: save the file as UTF-8"
    assert "the alias *a is inside of what it stands for" in told[4]


def test_the_list_of_agents_as_json_has_one_shape() -> None:
    changed()
    changed(("city: virlton", "city: virltn"), name="far.yaml")
    listed = json.loads(virl("agents", "--json").stdout)
    fields = {"name", "kind", "about", "mind", "city", "file", "readable", "faults"}
    assert all(set(one) == fields for one in listed)
    by_name = {one["name"]: one for one in listed}
    assert (by_name["hiro"]["kind"], by_name["mira"]["kind"]) == ("routine", "tools")
    assert (by_name["hiro"]["city"], by_name["hiro"]["readable"]) == ("virlton", True)
    assert by_name["zoe.yaml"]["file"] == "zoe.yaml"
    assert by_name["far.yaml"]["readable"] is False
    assert "line 3: city" in by_name["far.yaml"]["faults"][0]


def test_a_broken_file_of_the_name_is_named_not_an_unknown_agent() -> None:
    changed(("age: 22", "age: old"))
    assert refused("run", "zoe") == [
        "virl: zoe.yaml, line 2: age: must be a whole number, at least 0 and at most 150, not 'old'"
    ]
    assert "unknown agent 'zoo'" in refused("run", "zoo")[0]


def test_several_faults_of_a_run_are_a_line_each() -> None:
    path = changed(("age: 22", "age: old"), ("  steps: 3", "  stepz: 3"))
    assert refused("run", path) == [
        "virl: zoe.yaml: 2 faults",
        "zoe.yaml, line 2: age: must be a whole number, at least 0 and at most 150, not 'old'",
        "zoe.yaml, line 9: limits.stepz: unknown field; did you mean 'steps'?",
    ]


@pytest.mark.parametrize("command", ["check", "run"])
def test_a_wish_beyond_the_limit_is_one_line(command: str) -> None:
    wish = "intention: " + "He wants a cafe. " * 600
    told = refused(command, changed(("intention: Hiro is hungry", f"{wish}Hiro is hungry")))
    assert len(told) == 1
    assert "intention: " in told[0]
    assert "at most 10000 characters" in told[0]
    assert len(told[0]) < 300
