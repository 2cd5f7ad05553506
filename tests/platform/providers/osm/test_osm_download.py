"""Parts of OpenStreetMap fetched from a server on this machine that speaks as Overpass does."""

import tempfile
from pathlib import Path

import osmium
import pytest
from overpass_server import BOX, FREE, HEAD, Answer, OverpassServer, match, taken, town_xml
from typer.testing import CliRunner, Result

from virl import __version__
from virl.cli.main import app
from virl.geo.globe import LatLng
from virl.osm import extract
from virl.osm.box import box_of, square_around
from virl.osm.overpass_file import asked_box
from virl.platform.providers.cities import open_city
from virl.platform.providers.http import osm_servers, overpass
from virl.platform.providers.osm.city_file import OsmCity

SECRET = "a-long-marker-key-0123456789"  # noqa: S105  # made up


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of extracts; no test leaves anything in the folder for temporary files."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    monkeypatch.setenv("VIRL_DATA", str(tmp_path / "data"))
    for name in ("VIRL_OVERPASS_URL", "VIRL_NOMINATIM_URL"):
        monkeypatch.delenv(name, raising=False)
    quick = osm_servers.PATIENT.model_copy(update={"first_wait": 0.01})
    monkeypatch.setattr(osm_servers, "PATIENT", quick)
    return tmp_path / "data/osm"


def osm(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["data", "osm", *arguments])


def refused(data: Path, *arguments: str) -> str:
    """The last line of a command that fails and leaves nothing behind."""
    done = osm(*arguments)
    assert done.exit_code == 2, done.output
    assert not data.exists()
    assert not list(Path(tempfile.gettempdir()).iterdir())
    last = done.output.splitlines()[-1]
    assert last.startswith("virl: ")
    return last


@pytest.mark.slow
def test_a_box_becomes_a_town_that_can_be_walked(data: Path) -> None:
    with OverpassServer([Answer(town_xml())]) as there:
        done = osm("--box", BOX, "--name", "kyla", "--server", there.url)
    assert done.exit_code == 0, done.output
    file = data / "kyla.osm.gz"
    assert f"{file}: 1 kB; data of 2026-11-22" in done.stdout
    assert "© OpenStreetMap contributors" in done.stdout
    assert f"virl run hiro --city {file}" in done.stdout.replace("'", "")
    assert [one.path for one in there.requests] == ["/api/status", "/api/interpreter"]
    assert {one.headers["user-agent"] for one in there.requests} == {f"virl/{__version__}"}
    (query,) = there.queries
    assert "60.1650000,24.9300000,60.1750000,24.9500000" in query
    city = open_city(str(file))
    assert city.attribution.endswith("data of 2026-11-22")
    assert [place.name for place in city.places.search("bakery")] == ["Pågen & Sons"]
    box = asked_box(file)
    assert box is not None
    assert city.street_map is not None
    panoramas = [city.streetview.panorama(one).position for one in city.street_map.panorama_ids()]
    assert len(panoramas) > 50
    assert all(box.contains(at) for at in panoramas)  # Long Street goes on for 3 km
    assert not list(Path(tempfile.gettempdir()).iterdir())


@pytest.mark.slow
def test_an_agent_runs_in_a_fetched_town(data: Path, tmp_path: Path) -> None:
    with OverpassServer([Answer(town_xml())]) as there:
        assert osm("--box", BOX, "--name", "kyla", "--server", there.url).exit_code == 0
    command = ["run", "hiro", "--city", str(data / "kyla.osm.gz"), "--set", "limits.steps=3"]
    done = CliRunner().invoke(app, [*command, "--out", str(tmp_path / "run")])
    assert done.exit_code == 0, done.output
    assert "starts in kyla" in done.output


def test_the_same_box_is_the_same_file_and_another_one_is_not_replaced(data: Path) -> None:
    box = ("--box", BOX)
    with OverpassServer([Answer(town_xml())]) as there:
        assert osm(*box, "--server", there.url).exit_code == 0
        (file,) = data.iterdir()
        first = file.read_bytes()
        done = osm(*box, "--server", there.url)
        assert done.exit_code == 2
        assert f"{file}: there is an extract of this name" in done.output
        assert len(there.queries) == 1
        assert osm(*box, "--server", there.url, "--force").exit_code == 0
    assert file.name == "town-60.170n-24.940e.osm.gz"
    assert file.read_bytes() == first


def test_a_city_file_finds_a_fetched_extract_under_another_suffix(data: Path) -> None:
    data.mkdir(parents=True)
    (data / "kyla.osm.gz").write_bytes(b"")
    assert (
        OsmCity(title="Kyla", about="", provider="osm", extract=Path("kyla.osm.pbf")).map_file.name
        == "kyla.osm.gz"
    )
    assert (
        OsmCity(title="Kyla", about="", provider="osm", extract=Path("other.osm.pbf")).map_file.name
        == "other.osm.pbf"
    )


@pytest.mark.parametrize(
    ("busy", "said"),
    [
        (Answer("", 429, {"retry-after": "0.01"}), "too many requests from this address: waiting 1 s"),
        (Answer("", 429), "too many requests from this address: waiting 1 s"),
        (Answer("", 504), "too busy (status 504): waiting 1 s"),
    ],
)
def test_a_busy_server_is_waited_for(busy: Answer, said: str, data: Path) -> None:
    with OverpassServer([busy, Answer(town_xml())]) as there:
        done = osm("--box", BOX, "--server", there.url)
    assert done.exit_code == 0, done.output
    assert said in done.stderr
    assert "Overpass (127.0.0.1)" in done.stderr
    assert len(there.queries) == 2


def test_a_slot_is_waited_for_before_the_query(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(overpass.time, "sleep", slept.append)
    with OverpassServer([Answer(town_xml())], [taken(7), FREE]) as there:
        done = osm("--box", BOX, "--server", there.url)
    assert done.exit_code == 0, done.output
    assert slept == [8.0]
    assert "no slot is free: waiting 8 s" in done.stderr


@pytest.mark.parametrize("status", ["", "<html>not here</html>", taken(7).replace("limit: 2", "limit: 0")])
def test_a_server_that_names_no_wait_is_asked_at_once(
    status: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(overpass.time, "sleep", slept.append)
    with OverpassServer([Answer(town_xml())], [status]) as there:
        done = osm("--box", BOX, "--server", there.url)
    assert done.exit_code == 0, done.output
    assert not slept


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer("", 504), "too busy (status 504): try again later, or name another server"),
        (
            Answer("", 429, {"retry-after": "968"}),
            "too many requests from this address, and asks to wait 968 s",
        ),
        (
            Answer(
                "<head><title>T</title></head><body x><p><b>Error</b> line 1: parse error: &quot;x&quot;</p>",
                400,
            ),
            'status 400: Error line 1: parse error: "x": try again later',
        ),
        (
            Answer(town_xml(remark="runtime error: Query timed out in &quot;query&quot; at line 1.")),
            'runtime error: Query timed out in "query" at line 1.: choose a smaller box',
        ),
        (Answer(town_xml(end="")), "the reply is cut short: it has no </osm> at its end: try again later"),
        (Answer(town_xml(), promised=9), "the connection broke"),
        (
            Answer(town_xml().replace("<nd ", "<<nd ", 1)),
            "the reply is damaged OpenStreetMap XML: try again later",
        ),
        (
            Answer("<html><body>The server is probably too busy"),
            "is no OpenStreetMap XML (The server is probably too",
        ),
        (Answer('{"version": 0.6, "elements": []}'), "the reply is no OpenStreetMap XML ("),
        (Answer(""), "the reply is no OpenStreetMap XML"),
        (Answer(town_xml() + " " * 30_000), "the reply is larger than 0.02 MB"),
        (Answer(HEAD + "</osm>"), f"no street is mapped in the box {BOX}: choose another one"),
    ],
)
def test_a_reply_of_no_use_is_one_line(
    answer: Answer, said: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overpass, "LARGEST_MB", 0.02)
    monkeypatch.setattr(osm_servers, "PATIENT", osm_servers.PATIENT.model_copy(update={"further": 2}))
    with OverpassServer([answer]) as there:
        assert said in refused(data, "--box", BOX, "--server", there.url)


def test_no_server_is_one_line(data: Path) -> None:
    with OverpassServer([Answer()]) as gone:
        url = gone.url
    assert "Overpass (127.0.0.1): cannot be reached at http://127.0.0.1" in refused(
        data, "--box", BOX, "--server", url
    )


def test_credentials_reach_the_server_and_nothing_else(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    echo = Answer(f"<p>Error: {SECRET} is not allowed, nor is me:{SECRET}@host</p>", 403)
    with OverpassServer([echo]) as there:
        url = f"http://me:{SECRET}@{there.host}/api/interpreter?api_key={SECRET}"
        monkeypatch.setenv("VIRL_OVERPASS_URL", url)
        said = [osm("--box", BOX), osm("--box", BOX, "--debug")]
        monkeypatch.delenv("VIRL_OVERPASS_URL")
        said += [osm("--box", BOX, "--server", url), osm("--box", BOX, "--server", url, "--debug")]
        said.append(osm("--box", BOX, "--server", f"http://me:{SECRET}@[host/?key={SECRET}"))
    assert [done.exit_code for done in said] == [2] * 5
    assert not [done.output for done in said if SECRET in done.output]
    assert "status 403: Error: *** is not allowed" in said[0].output
    assert {tuple(one.query["api_key"]) for one in there.requests} == {(SECRET,)}
    assert all(one.headers["authorization"].startswith("Basic ") for one in there.requests)
    leaked = Answer(town_xml().replace("www.openstreetmap.org", f"https://host/?api_key={SECRET}"))
    with OverpassServer([leaked]) as there:
        url = f"{there.url}?api_key={SECRET}"
        assert "the reply has the key in it" in refused(data, "--box", BOX, "--server", url)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "give one of these: an extract, --box S,W,N,E or --place NAME"),
        (("--box", BOX, "--place", "Vaduz"), "give one of these"),
        (("town.osm.pbf", "--place", "Vaduz"), "give one of these"),
        (("town.osm.pbf", "--box", BOX), "town.osm.pbf: no such file"),
        (("town.osm.pbf", "--box", "50,5,51,6"), "km2 is more than 400 km2: give a smaller box"),
        (("town.osm.pbf", "--name", "x"), "--name is for --box and --place"),
        (
            ("town.osm.pbf", "--box", BOX, "--server", "x"),
            "--server is for --box and --place without an extract",
        ),
        (("--box", "1,2,3"), "--box '1,2,3': must be S,W,N,E in degrees"),
        (("--box", "a,b,c,d"), "must be S,W,N,E in degrees"),
        (("--box", "nan,2,3,4"), "is not a position"),
        (("--box", "91,2,92,4"), "latitude 91 is outside [-90, 90]"),
        (("--box", "60.2,24.9,60.1,25"), "south 60.2 must be less than north 60.1"),
        (("--box", "60.1,25,60.2,24.9"), "west 25 must be less than east 24.9"),
        (("--box", "60.1,24.9,60.2,25"), " km2 is more than 4 km2, the limit of a download"),
        (("--box", "60.17,24.94,60.1701,24.9401"), "smaller than 0.04 km2, a square of 200 metres"),
        (("--box", BOX, "--name", "../x"), "--name '../x': must be at most 60 letters"),
        (("--box", BOX, "--server", "nowhere"), "--server: 'nowhere' must be a URL"),
    ],
)
def test_a_wrong_box_or_option_is_one_line(arguments: tuple[str, ...], said: str, data: Path) -> None:
    assert said in refused(data, *arguments)


def test_a_square_of_2_km_may_be_fetched_anywhere() -> None:
    for lat, lng in ((0.0, 0.0), (-33.45, -70.66), (78.2, 15.6)):
        square = square_around(LatLng(lat, lng))
        assert square.area_km2 == 4
        assert box_of(str(square)) == square


def place(there: OverpassServer, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    monkeypatch.setenv("VIRL_NOMINATIM_URL", f"http://{there.host}/search")
    return osm("--place", *arguments, "--server", there.url)


def test_a_place_is_found_and_fetched(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    places = [match("Kylä"), match("Kylä", kind="hamlet")]
    with OverpassServer([Answer(town_xml())], places=places) as there:
        done = place(there, monkeypatch, "Kylä, Finland")
    assert done.exit_code == 0, done.output
    said = "Kylä, Finland: Kylä, Finland (town), the first of 2 matches; the next is Kylä, Finland (hamlet)"
    assert said in done.stderr
    assert (data / "kylä.osm.gz").is_file()
    asked = there.requests[0]
    assert (asked.path, asked.query["q"], asked.query["format"]) == ("/search", ["Kylä, Finland"], ["jsonv2"])
    assert asked.headers["user-agent"] == f"virl/{__version__}"
    assert "60.1660000,24.9320000,60.1740000,24.9480000" in there.queries[0]


@pytest.mark.parametrize(("half", "than"), [(0.1, "larger"), (0.0001, "smaller")])
def test_a_place_of_another_size_is_its_middle(
    half: float, than: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OverpassServer([Answer(town_xml())], places=[match("Kylä", half=half)]) as there:
        done = place(there, monkeypatch, "Kylä")
    assert done.exit_code == 0, done.output
    assert f"Kylä: {than} than a download: taking the square of 2 by 2 km around its middle" in done.stderr
    assert "60.1610250,24.9219860,60.1789750,24.9580140" in there.queries[0]


@pytest.mark.parametrize(
    ("places", "said"),
    [
        ([], "--place 'Kylä': Nominatim (127.0.0.1) knows no such place: write it otherwise, or give --box"),
        ({"error": "no"}, "nominatim_search: the reply is no JSON array"),
        ([{"lat": "north"}, match("Kylä") | {"lat": "nan"}], "knows no such place"),
    ],
)
def test_a_place_that_is_not_found_is_one_line(
    places: object, said: str, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OverpassServer([Answer()], places=places) as there:
        monkeypatch.setenv("VIRL_NOMINATIM_URL", f"http://{there.host}/search")
        assert said in refused(data, "--place", "Kylä", "--server", there.url)
    assert not there.queries


def test_an_interrupted_download_leaves_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(overpass.time, "sleep", stop)
    with OverpassServer([Answer(town_xml())], [taken(7)]) as there:
        done = osm("--box", BOX, "--server", there.url)
    assert done.exit_code == 130
    assert "virl: stopped: nothing was kept" in done.stderr
    assert not data.exists()
    assert not list(Path(tempfile.gettempdir()).iterdir())


def copied(tmp_path: Path) -> Path:
    """An extract on the user's disk: the town of the server, with its date in its head."""
    head = osmium.io.Header()
    head.set("osmosis_replication_timestamp", "2022-07-24T20:21:16Z")
    (tmp_path / "town.osm").write_text(town_xml())
    own = tmp_path / "town.osm.pbf"
    with osmium.SimpleWriter(str(own), header=head) as writer:
        for one in osmium.FileProcessor(str(tmp_path / "town.osm")):
            writer.add(one)
    return own


@pytest.mark.slow
def test_a_box_of_an_extract_is_copied_and_a_town_of_it_ends_there(data: Path, tmp_path: Path) -> None:
    own = copied(tmp_path)
    south, west, north, east = map(float, BOX.split(","))
    box = f"{south},{west},{north},{(west + east) / 2}"
    done = osm(str(own), "--box", box, "--name", "half")
    assert done.exit_code == 0, done.output
    assert "data of 2022-07-24" in done.output
    assert [kept.name for kept in data.iterdir()] == ["half.osm.pbf"]
    whole = open_city(str(own)).street_map
    half = open_city(str(data / "half.osm.pbf"))
    names = half.street_map.panorama_ids()
    assert 0 < len(names) < len(whole.panorama_ids())
    assert max(half.streetview.panorama(one).position.lng for one in names) <= (west + east) / 2 + 1e-6
    assert not list(Path(tempfile.gettempdir()).iterdir())


def test_a_box_beside_an_extract_or_without_a_street_is_one_line(data: Path, tmp_path: Path) -> None:
    own = copied(tmp_path)
    assert "no street is mapped in the box" in refused(data, str(own), "--box", "10,10,10.01,10.01")


def test_a_large_file_is_copied_by_boxes_only(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = copied(tmp_path)
    monkeypatch.setattr(extract, "LARGEST_MB", 0)
    said = refused(data, str(own))
    assert " MB is more than one town: give the part to copy with --box S,W,N,E" in said
    assert osm(str(own), "--box", BOX).exit_code == 0
