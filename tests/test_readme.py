"""Every command of the README is run as it is written, or is listed here with what is done instead."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from doc_commands import README, Done, Instead, commands, serving
from openai_server import Behaviour, ChatServer, Request, reply, tool_calls
from overpass_server import Answer, OverpassServer, match, town_xml
from warm_cache import warm_cache

from virl.geo.globe import LatLng
from virl.platform.providers.cities import city_settings
from virl.platform.providers.offline.city import open_offline
from virl.serve.google.server import serve_city
from virl.towns.plan import layout

LONGEST_S = 600
FEW_STEPS = "{} --set limits.steps=4"


SPECIAL = {
    "git clone https://github.com/virl-project/virl && cd virl": Instead(
        "needs a network", "grep -F 'Source = \"https://github.com/virl-project/virl\"' {root}/pyproject.toml"
    ),
    "make hiro": Instead("sets up an environment: minutes", "make --dry-run -C {root} hiro"),
    "pip install 'virl[osm]'": Instead("needs a network", "test -f {root}/pyproject.toml && echo ok"),
    "virl watch runs": Instead("runs until it is stopped", "{} --port 0"),
    "virl run hiro --city helsinki --at 60.17,24.94": Instead("takes a minute", FEW_STEPS),
    "virl run ling": Instead("takes a minute", FEW_STEPS),
    'virl preview "98 King Lane" bakery': Instead(
        "looks at a long way: see the test of previews", "virl preview '98 King Lane' '94 King Lane'"
    ),
    "virl bench place-recognition --limit 10": Instead("takes a minute", "{} --limit 2"),
    "virl bench exploration --city virlton --starts 40": Instead("takes minutes", "{} --dry-run"),
}

HIRO = {
    "PlaceType": {"place_type": "restaurant"},
    "RoadChoice": {"index": 0, "reason": "It looks lively."},
    "PlaceSummary": {"summary": "Mild food."},
    "PlaceDecision": {"action": "enter", "reason": "It suits."},
}


def model(request: Request) -> Behaviour:
    """Answers Hiro's questions, and ends the run of a character with tools."""
    if "response_format" in request.body:
        asked = str(request.body["response_format"])
        return reply(next(fields for name, fields in HIRO.items() if name in asked))
    return tool_calls(("finish", {"answer": "Lunch at Lupita.", "succeeded": True}))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A shell's: an empty home, `virl` on the path, loopback servers instead of the real ones."""
    home = tmp_path_factory.mktemp("home")
    tokyo = city_settings("tokyo").center
    assert tokyo is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "ORIGIN", LatLng(*tokyo))  # Virlton lies in Tokyo
        town = open_offline("virlton", "Virlton in Tokyo", 0)  # a title that no other test has opened
    helsinki = OverpassServer([Answer(town_xml())], places=[match("Helsinki")])
    with ChatServer([model]) as chat, serve_city(town) as google, helsinki as overpass:
        yield {
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "VIRL_CACHE": warm_cache(home / "cache"),
            "VIRL_DATA": str(home / "data"),
            "VIRL_BASE_URL": chat.url,
            "VIRL_GOOGLE_BASE_URL": google.url,
            "VIRL_OVERPASS_URL": overpass.url,
            "VIRL_NOMINATIM_URL": f"http://{overpass.host}/search",
            "OMP_NUM_THREADS": "1",
        }


def test_what_is_listed_stands_in_the_readme() -> None:
    assert SPECIAL.keys() <= set(commands(README))


@pytest.mark.slow
def test_every_command_of_the_readme_does_what_it_should(
    environment: Mapping[str, str], tmp_path: Path
) -> None:
    exports: list[str] = []
    for line in commands(README):
        if line.startswith("export "):
            exports.append(line)
            continue
        instead = SPECIAL.get(line)
        command = instead.of(line) if instead else line
        begun = time.monotonic()
        if command.endswith(" --port 0"):
            done = serving(command, environment, tmp_path)
        else:
            done = shell("\n".join([*exports, command]), environment, tmp_path)
        print(f"{time.monotonic() - begun:6.1f} s, exit {done.code}: {command}", flush=True)
        said = f"{command}\n{done.out}\n{done.error}"
        assert "Traceback" not in done.error, said
        if instead and instead.refusal:
            assert done.code == 2, said
            [refusal] = done.error.strip().splitlines()
            assert instead.refusal in refusal, said
        else:
            assert done.code == 0, said
            assert done.out.strip(), said


def shell(script: str, environment: Mapping[str, str], folder: Path) -> Done:
    """Run a script."""
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )
    return Done(done.returncode, done.stdout, done.stderr)
