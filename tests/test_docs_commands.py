"""Every command of every page is run as it is written, or a rule below says what is done instead.

Commands of one page are run in their order and in one folder; `tests/test_readme.py` runs the README's.
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest
from doc_commands import DOCS, ROOT, Done, Instead, commands, expanded, serving
from made_package import PLUGIN, install_plugin
from overpass_server import Answer, OverpassServer, match, town_xml
from real_data import real_data
from test_docs import blocks
from typer.testing import CliRunner
from warm_cache import warm_cache

from virl.cli.main import app
from virl.platform.providers.cities import open_city
from virl.serve.google.server import serve_city

PAGES = [page for page in sorted(DOCS.rglob("*.md")) if commands(page)]
HOURS = "takes minutes or hours, or asks paid services"
PLACEHOLDER = "names a file or folder of the reader's"
WEIGHTS = "needs packages and weights that are not installed"
NO_KEY = "GOOGLE_MAPS_API_KEY is not set"
OTHERS = "is another program, or needs a network: only its syntax is checked"
A_KEY = "no-key-of-anybody-0123456789"
NO_WEIGHTS = "not installed|not on this machine"
SYNTAX = "bash -n <<'THAT'\n{}\nTHAT"

RULES = {
    # other programs
    r"make (.*)": Instead("takes minutes", r"make --dry-run -C {root} \1"),
    r"(python -m venv .*)?pip install 'virl\[[\w,]+\]'": Instead("see the test of extras", SYNTAX),
    r"pip install virl": Instead("see the test of the wheel", SYNTAX),
    r"(pip install (fonttools|.* (overturemaps|uvicorn))|apt-get (.|\n)*)": Instead(OTHERS, SYNTAX),
    r"(uvicorn service:app|curl -N?.*localhost:8000/runs).*": Instead("see the test of the service", SYNTAX),
    r"((npm|git|ray|claude|npx|overturemaps|source) .*)": Instead(OTHERS, SYNTAX),
    # measurements and training
    r"(python -m benchmarks\.perf\.scale)": Instead(""),
    r"(python -m (benchmarks\.(perf|touchdown|sight_learning)|virl\.datasets|virl\.train)\.\w+).*": Instead(
        HOURS, r"\1 --help"
    ),
    r"virl bench sight-learning .*policy.zip": Instead(WEIGHTS, refusal=r"virl\[learn\]|no such file"),
    # photographs, and runs to watch
    r"virl (import photos|town|run rx399 --city) riverside.*": Instead(
        PLACEHOLDER, refusal="riverside|not installed"
    ),
    r"virl look .* --detector owlv2 .*": Instead(WEIGHTS, refusal=NO_WEIGHTS + "|photos"),
    r"(virl watch --play .*)": Instead("waits for a person", "{} --help"),
    r"virl watch runs/vln-virlton": Instead(PLACEHOLDER, refusal="vln-virlton"),
    r"virl (look|watch .* --save) .*": Instead(""),
    r"virl watch .*": Instead("runs until it is stopped", "{} --port 0"),
    # runs
    r"virl run .* --replay .*": Instead(PLACEHOLDER, refusal="lunch-recording"),
    r"virl run hiro --resume --budget-usd 5": Instead(""),
    r"virl run .* --resume( .*)?": Instead(
        "nothing was interrupted here", refusal="--resume|no such journal"
    ),
    r"(\w+=\S+ )*virl run hiro( --city \w+-http)? --budget-usd 1": Instead(HOURS, "{} --dry-run"),
    r"virl run hiro --detector (owlv2|my-owl.yaml).*": Instead(WEIGHTS, "{} --dry-run", NO_WEIGHTS),
    r"(virl run hiro --city )liechtenstein.osm.pbf .*": Instead(
        "reads a whole country", r"\1helsinki.osm.pbf --at 'Mikonkatu 7' --dry-run"
    ),
    r"((\w+=\S+ )*virl run (?!.*--dry-run).*)": Instead(HOURS, "{} --dry-run"),
    r"(virl preview \"60.*) library --city helsinki": Instead(
        "looks at a long way", r"\1 60.1703,24.9422 --city helsinki.osm.pbf"
    ),
    r"virl preview \"98 King Lane\" bakery": Instead("see the test of previews", "virl preview --help"),
    r"(virl preview \"98 King Lane\") (?:bakery|\"115 Station Street\") (.*)": Instead(
        "looks at a long way", r"\1 '94 King Lane' \2 --quiet"
    ),
    # benchmarks and data
    r"(virl bench (?!.*--dry-run).* --model (owlv2|grounding-dino|my-owl)\b.*)": Instead(
        WEIGHTS, "{} --dry-run", NO_WEIGHTS
    ),
    r"virl bench .*--observations DIR.*": Instead(PLACEHOLDER, "{} --dry-run", "observations"),
    r"virl bench .*--city localization-mini .*": Instead(
        "nothing was collected here", refusal="no data set of"
    ),
    r"virl bench report (.*?)( --published)?( --out \S+)?": Instead(
        "the lines above made no runs", r"virl bench report shards/1 shards/2\2 --out both"
    ),
    r"(virl bench touchdown (score|replay) --walks) FILE(.*)": Instead(
        PLACEHOLDER, r"\1 real-touchdown/expected/random_walks.jsonl\3"
    ),
    r"(virl bench r2r score --trajectories) FILE": Instead(
        PLACEHOLDER, r"\1 real-r2r/expected/trajectory_metrics.json"
    ),
    r"virl bench list( .*)?": Instead(""),
    # Finding the targets takes most of the time.
    r"(virl bench sight(?!.*--dry-run).*)": Instead(HOURS, "{} --count 1 --dry-run"),
    r"(virl bench (?!.*--dry-run).*)": Instead(HOURS, "{} --dry-run"),
    r"virl collect .*": Instead(HOURS, "GOOGLE_MAPS_API_KEY= {}", NO_KEY),
    r"(virl data export .* --format (\w+)) --out DIR": Instead(PLACEHOLDER, r"\1 --out \2 --episodes 2"),
    r"(virl data export .*?)( --episodes \d+)?( .*)?": Instead(HOURS, r"\1\3 --episodes 2"),
    r"(virl data (touchdown|r2r) --from) .*": Instead(PLACEHOLDER, r"\1 real-\2"),
    r"virl data osm .*--name .*": Instead("a line above wrote a file of this name", "{} --force"),
    r"virl data (osm|list)( .*)?": Instead(""),
    r"(virl narrate runs/hiro-\S+) .*": Instead(HOURS, r"\1"),
    r"virl film runs/hiro-\* .*": Instead(PLACEHOLDER, "virl film --help"),
    r"(virl film .*)": Instead("", "{} --width 320 --height 240 --seconds 5"),
    r"virl narrate runs/(touchdown|r2r) .*": Instead(PLACEHOLDER, refusal="no such"),
    # models, towns, servers
    r"virl models --try (owlv2|my-owl.yaml).*": Instead(WEIGHTS, refusal=NO_WEIGHTS),
    r"(virl models --write-views views)": Instead(HOURS, r"\1 --count 2"),
    r"(virl town .*?)( --views \d+)?( .*)?": Instead(HOURS, r"\1\3 --views 1"),
    r"virl serve mcp --city virlton": Instead("serves until its client ends", "true | {}"),
    r"(virl serve (google|mcp).*?)( --port \d+)?": Instead("runs until it is stopped", r"\1 --port 0"),
    r"curl 'http://127\.0\.0\.1:8765(.*)'": Instead(
        "the server listens elsewhere here", r'curl --silent --fail "$VIRL_GOOGLE_BASE_URL\1"'
    ),
    r"virl doctor --city strasbourg": Instead("asks services on the network", "virl doctor --city virlton"),
    r"virl doctor --real( .*)?": Instead("asks before it spends", "{} --yes"),
    r"virl cache .* --empty": Instead("asks before it deletes", "{} --yes"),
    r"virl (agents|cache|cities|new|check|doctor|gallery|models|town)( .*)?": Instead(""),
    r"(\w+=\S+ )*virl run .*": Instead(""),
    r"virl bench .*": Instead(""),
}
"""A rule for each kind of command, by a pattern of the whole line; the first that matches counts."""

GIVEN = {
    "narrate": ["virl run hiro --set limits.steps=1 --out runs/hiro-20260504-113000"],
    "watch": ["virl run hiro --set limits.steps=1 --out runs/hiro-20260504-113000"],
    "discrete-walks": ["virl data touchdown --from real-touchdown"],
    "run-agents": [
        "virl new zoe",
        "virl run hiro --set limits.steps=1 --out runs/hiro-1",
        "cp -r runs other",
    ],
}
"""Commands that a page takes for given."""
FILES = {
    "serve-google": {"helsinki-http.yaml": ("yaml", "title: Helsinki over HTTP")},
    "own-agent": {"scout.py": ("python", "Scout: looks"), "scout.yaml": ("yaml", "name: Scout")},
}
"""Files that a page shows, by the language of their block and a text in it."""
SHARDS = [
    "virl data export --city helsinki.osm.pbf@60.1699,24.9384,300 --out small --episodes 4",
    "virl bench touchdown --data small --agent shortest --shard 1/2 --out shards/1",
    "virl bench touchdown --data small --agent shortest --shard 2/2 --out shards/2",
]


def rule_for(line: str) -> tuple[re.Match[str], Instead] | None:
    """The first rule that matches a whole line."""
    for pattern, instead in RULES.items():
        if found := re.fullmatch(pattern, line, re.DOTALL):
            return found, instead
    return None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_has_a_rule(page: Path) -> None:
    for line in commands(page):
        assert line.startswith("export ") or rule_for(line), (
            f"{page.name}: `{line}`: add a pattern to RULES in {Path(__file__).name} for it"
        )


def test_every_rule_is_needed() -> None:
    lines = [line for page in PAGES for line in commands(page)]
    used = {id(found[1]) for line in lines if (found := rule_for(line))}
    assert not [pattern for pattern, instead in RULES.items() if id(instead) not in used]


def test_every_extra_that_a_page_installs_exists() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for page in PAGES:
        for line in commands(page):
            assert set(re.findall(r"'virl\[(\w+)\]'", line)) <= extras.keys(), line


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder with what pages take for given, and an environment without keys, and loopback servers."""
    home = tmp_path_factory.mktemp("home")
    given = home / "given"
    (given / "path" / "to").mkdir(parents=True)
    extracts = real_data("osm")
    for name in ("helsinki.osm.pbf", "liechtenstein.osm.pbf", "moscow.osm.gz"):
        (given / name).symlink_to(extracts / name)
    (given / "finland.osm.pbf").symlink_to(extracts / "helsinki.osm.pbf")
    for name in ("touchdown", "r2r"):
        (given / f"real-{name}").symlink_to(real_data(name))
    for copy in ("mine.yaml", "path/to/mine.yaml"):
        shutil.copy(ROOT / "agents" / "hiro.yaml", given / copy)
    shutil.copy(ROOT / "platform" / "models" / "owlvit.yaml", given / "my-owl.yaml")
    shutil.copy(real_data("photos") / "town-sign-en.jpg", given / "street.jpg")
    shutil.copy(PLUGIN / "mytown" / "models" / "coloured-signs.yaml", given / "my-signs.yaml")
    (given / "park.geojson").write_text(
        '{"type": "Polygon", "coordinates": [[[0, 0], [0.01, 0], [0.01, 0.01], [0, 0.01], [0, 0]]]}'
    )
    overpass = OverpassServer([Answer(town_xml())], places=[match("Vaduz")])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(given)
        for command in SHARDS:
            assert in_process(command).code == 0, command
    with serve_city(open_city("virlton")) as google, overpass as maps:
        keyless = {name: value for name, value in os.environ.items() if "KEY" not in name}
        yield (
            given,
            keyless
            | {
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(home),
                "COLUMNS": "120",
                "OPENAI_API_KEY": A_KEY,
                "GOOGLE_MAPS_API_KEY": A_KEY,
                "VIRL_CACHE": warm_cache(home / "cache"),
                "VIRL_GOOGLE_BASE_URL": google.url,
                "VIRL_OVERPASS_URL": maps.url,
                "VIRL_NOMINATIM_URL": f"http://{maps.host}/search",
                "OMP_NUM_THREADS": "1",
            },
        )


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # other tests import it, too
@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_does_what_it_should(
    page: Path, machine: tuple[Path, dict[str, str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, environment = machine
    folder = tmp_path / "page"
    shutil.copytree(given, folder, symlinks=True)
    for name in os.environ.keys() - environment.keys():
        monkeypatch.delenv(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    install_plugin(monkeypatch, tmp_path / "site")
    monkeypatch.chdir(folder)
    for made in GIVEN.get(page.stem, ()):
        assert perform(made).code == 0, made
    for name, (language, begun) in FILES.get(page.stem, {}).items():
        [text] = [block for block in blocks(page, language) if begun in block]
        Path(name).write_text(text)
    for line in commands(page):
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            monkeypatch.setenv(name, f"{name}-{A_KEY}" if value.startswith(("$", ".")) else value)
            continue
        found = rule_for(line)
        assert found, line
        check(*found)


def check(found: re.Match[str], instead: Instead) -> None:
    """Do what a rule says, and see that it ends as the rule says."""
    command = found.expand(instead.command).replace("{root}", str(ROOT)).replace("{}", found[0])
    begun = time.process_time()
    done = perform(command)
    print(f"{time.process_time() - begun:6.1f} s, exit {done.code}: {command.splitlines()[0]}", flush=True)
    said = f"{found[0]}\n{command}\n{done.out}\n{done.error}"
    assert "Traceback" not in done.error, said
    if instead.refusal:
        assert done.code == 2, said
        assert re.search(instead.refusal, done.error), said
    else:
        assert done.code == 0, said


def perform(command: str) -> Done:
    """Run a command: a server for one answer, Python and virl in this process, all else in a shell."""
    words = command.split(" ")
    if command.endswith(" --port 0"):
        return serving(command)
    if command.startswith("python -m "):
        return of_module(shlex.split(command)[2:])
    if "virl" in words and all("=" in word for word in words[: words.index("virl")]):
        return in_process(command)
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


def in_process(command: str) -> Done:
    """Run a command of virl, after settings of its environment."""
    words = shlex.split(command)
    start = words.index("virl")
    with pytest.MonkeyPatch.context() as patch:
        for setting in words[:start]:
            patch.setenv(*setting.split("=", 1))
        arguments = [path for word in words[start + 1 :] for path in expanded(word)]
        ended = CliRunner().invoke(app, arguments)
    if ended.exception and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return Done(ended.exit_code, ended.stdout, ended.stderr)


def of_module(words: list[str]) -> Done:
    """Run a module as a program."""
    out, error, code = StringIO(), StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(error):
        patch.setattr(sys, "argv", words)
        try:
            runpy.run_module(words[0], run_name="__main__", alter_sys=False)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 0
    return Done(code, out.getvalue(), error.getvalue())
