"""The server of `virl watch`, over real HTTP: who may ask, and what is told."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from made_run import STREETS, keep_made_run, made_city

from virl.agent.plan import RunOptions
from virl.errors import BadInput
from virl.journal.journal import JOURNAL
from virl.journal.records import CostRecord, EndRecord, Result
from virl.journal.walk_map import ground_of
from virl.pages.exhibits import MapExhibit, MapPoint
from virl.pages.ground import MapGround
from virl.pages.pictures import embed
from virl.serve.watch.feed import RunCatalogue, RunFeed, files_of, picture_of
from virl.serve.watch.pages import save_page
from virl.serve.watch.server import serve_live_page, serve_page
from virl.serve.watch.telling import RecordConverter


def ground(_: str) -> MapGround:
    return ground_of(made_city())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return keep_made_run(tmp_path_factory.mktemp("watched") / "run", size=32)


@pytest.fixture(scope="module")
def address(run: Path) -> Iterator[str]:
    with serve_page({0: RunFeed(run, ground)}) as url:
        yield url


@pytest.fixture
def client(address: str) -> Iterator[httpx.Client]:
    """A client that was let in, with the page as its base."""
    with entered(address) as opened:
        yield opened


@contextmanager
def entered(address: str) -> Iterator[httpx.Client]:
    """Let a client in at an address."""
    with httpx.Client(timeout=20) as plain:
        let_in = plain.get(address)
        page = let_in.text.partition("url=")[2].partition('"')[0]
        origin = address.partition("/?")[0]
        with httpx.Client(base_url=origin + page, cookies=plain.cookies, timeout=20) as opened:
            yield opened


def told(client: httpx.Client, last: str = "") -> tuple[list[dict[str, Any]], str]:
    """The records of run 0 up to the first state, and the id of the last event."""
    records: list[dict[str, Any]] = []
    identity, name = "", ""
    with client.stream("GET", "events?runs=0", headers={"Last-Event-ID": last} if last else {}) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            field, _, value = line.partition(": ")
            if field == "event":
                name = value
            elif field == "id":
                identity = value
            elif field == "data" and name == "told":
                records += json.loads(value)["told"]
            elif field == "data" and name == "state":
                break
    return records, identity


def test_the_address_is_exchanged_for_a_cookie_that_scripts_and_other_sites_do_not_get(address: str) -> None:
    reply = httpx.get(address)
    cookie = reply.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    token = parse_qs(urlsplit(address).query)["token"][0]
    assert token not in reply.text
    assert token not in cookie
    path = cookie.partition("path=")[2].partition(";")[0]
    assert len(path) > 8


def test_the_page_and_its_files_are_served_strictly(client: httpx.Client) -> None:
    for name, media in (("", "text/html"), ("watch.css", "text/css"), ("watch.js", "text/javascript")):
        reply = client.get(name)
        assert reply.status_code == 200
        assert reply.headers["content-type"].startswith(media)
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cache-control"] == "no-store"
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    page = client.get("").text
    assert "<script>" not in page
    assert "onclick" not in page


def test_letters_that_systems_lack_are_served_as_fonts(client: httpx.Client) -> None:
    style = client.get("letters.css", params={"codes": "41.6771.4eac"})
    assert style.headers["content-type"].startswith("text/css")
    assert "unicode-range:U+4eac,U+6771;src:url(data:font/woff2" in style.text
    assert client.get("letters.css", params={"codes": "no"}).status_code == 422


@pytest.mark.parametrize("path", ["", "watch.js", "index", "events?runs=0", "runs/0/views/1/0"])
def test_nothing_is_given_without_the_cookie(client: httpx.Client, address: str, path: str) -> None:
    url = str(client.base_url) + path
    assert httpx.get(url).status_code == 403
    assert httpx.get(url, cookies={"virl_watch": "wrong"}).status_code == 403
    assert httpx.get(address.partition("?")[0]).status_code == 403
    assert httpx.get(address + "x").status_code == 403
    assert client.get("index").status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_another_host_is_refused(client: httpx.Client, address: str, host: str) -> None:
    given = host.replace("{port}", str(client.base_url.port))
    assert client.get("index", headers={"Host": given}).status_code in {400, 421}
    assert httpx.get(address, headers={"Host": given}).status_code in {400, 421}


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"},
    ],
)
def test_pages_of_other_sites_are_refused(client: httpx.Client, headers: dict[str, str]) -> None:
    given = {name: value.replace("{port}", str(client.base_url.port)) for name, value in headers.items()}
    assert client.get("index", headers=given).status_code == 403
    own = f"http://127.0.0.1:{client.base_url.port}"
    assert client.get("index", headers={"Origin": own, "Sec-Fetch-Site": "same-origin"}).status_code == 200


def test_the_stream_tells_the_run_and_goes_on_where_it_was(client: httpx.Client, run: Path) -> None:
    records, identity = told(client)
    lines = (run / JOURNAL).read_text().splitlines()
    assert [one["seq"] for one in records] == list(range(len(lines)))
    assert [one["kind"] for one in records][:2] == ["start", "step"]
    assert records[-1]["kind"] == "end"
    assert [layer["kind"] for layer in records[1]["ground"]["layers"]] == ["casing", "road"]
    assert records[1]["ground"]["layers"][1]["data"].count("M") == len(STREETS)
    assert records[1]["at"] == [0.0, 0.0]
    assert records[9]["at"][0] == pytest.approx(80.0, abs=0.5)
    assert records[4]["views"][2]["boxes"][0]["label"] == "KAPPA SUSHI"
    again, same = told(client, identity)
    assert again == []
    assert same == identity
    rest, _ = told(client, "0.20")
    assert [one["seq"] for one in rest] == [20, 21, 22]
    all_of_it, _ = told(client, "no-id.of-ours")
    assert len(all_of_it) == len(lines)


def test_views_are_served_as_the_journal_names_them(client: httpx.Client) -> None:
    reply = client.get("runs/0/views/1/0")
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "image/jpeg"
    assert reply.content.startswith(b"\xff\xd8\xff")
    for path in (
        "runs/0/views/0/0", "runs/0/views/1/99", "runs/0/views/-1/0", "runs/1/views/1/0", "runs/0/views/99/0",
        "runs/0/views/../journal.jsonl", "runs/0/views/..%2f..%2fjournal.jsonl/0", "runs/0/journal.jsonl",
    ):  # fmt: skip
        assert client.get(path).status_code in {404, 422}, path


def test_a_view_that_leads_out_of_the_folder_or_is_no_picture_is_not_served(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", steps=2, ended=False, size=16)
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(b"\xff\xd8\xffsecret")
    first, second, third, pipe = sorted((folder / "views").iterdir())[:4]
    first.unlink()
    first.symlink_to(secret)
    second.write_bytes(b"<script>alert(1)</script>")
    third.unlink()
    pipe.unlink()
    os.mkfifo(pipe)
    feed = RunFeed(folder, ground)
    feed.read_records()
    given = {folder / file: picture_of(feed, view) for view, file in files_of(feed).items()}
    assert given[first] is given[second] is given[third] is given[pipe] is None
    assert all(given[file] for file in given if file not in {first, second, third, pipe})
    assert save_page([feed], tmp_path / "saved.html")[0].is_file()


def test_a_view_that_many_steps_show_is_saved_once_and_counts_as_often_in_a_report(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", ended=False, size=64)
    first, *_ = sorted(file.name for file in (folder / "views").iterdir())
    journal = folder / JOURNAL
    start, *records = [json.loads(line) for line in journal.read_text().splitlines()]
    steps = [record for record in records if record["kind"] == "step"] * 20
    for number, step in enumerate(steps, start=1):
        views = [view | {"file": f"views/{first}"} for view in step["views"]]
        steps[number - 1] = step | {"seq": number, "step": number - 1, "views": views}
    journal.write_text("".join(f"{json.dumps(record)}\n" for record in [start, *steps]))
    page = save_page([RunFeed(folder, ground)], tmp_path / "saved.html")[0].read_text(encoding="utf-8")
    assert page.count("data:image/webp") == 1
    assert not embed(folder, [f"views/{first}"] * 10_000, budget=9_000)


def test_a_journal_that_is_damaged_is_told(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", steps=2, ended=False, size=16)
    with (folder / JOURNAL).open("a") as file:
        file.write("{}\n")
    feed = RunFeed(folder, ground)
    assert len(feed.read_records()) == 3
    assert "line 4" in feed.state()["fault"]


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (BadInput("no panorama at 0,0"), "no panorama at 0,0"),
        (KeyError("sk-0123456789abc"), "KeyError: '***'"),
    ],
)
def test_the_page_of_a_run_that_fails_shows_why(tmp_path: Path, fault: Exception, words: str) -> None:
    out = keep_made_run(tmp_path / "run", steps=2, ended=False, size=16)
    with serve_live_page(RunOptions(agent="hiro", out=out)) as live_page:
        assert words in live_page.fail(fault)
        with entered(live_page.url) as client:
            assert not live_page.seen.is_set()
            records, _ = told(client)
            assert len(records) == 3, "what was done before stays"
            assert live_page.seen.is_set()
        assert words in live_page.feed.state()["fault"]


def test_runs_are_found_in_folders(tmp_path: Path) -> None:
    for name in ("b", "a", "a/consulted/c"):
        keep_made_run(tmp_path / "runs" / name, steps=1, ended=False, size=16)
    (tmp_path / "empty").mkdir()
    runs = tmp_path / "runs"
    assert [feed.folder for feed in RunCatalogue([runs], ground).feeds.values()] == [runs / "a", runs / "b"]
    both = RunCatalogue([runs / "b", runs], ground)
    assert [feed.folder for feed in both.feeds.values()] == [runs / "b", runs / "a"]
    assert [card["title"] for card in both.index()] == ["Hiro in testville"] * 2
    later = runs / "b" / JOURNAL
    later.write_bytes(later.read_bytes().replace(b"2026-05-04T11", b"2026-05-04T12", 1))
    assert [card["run"] for card in RunCatalogue([runs], ground).index()] == [1, 0], "the latest first"
    for wrong in ("empty", "nowhere"):
        with pytest.raises(BadInput, match=wrong):
            RunCatalogue([tmp_path / wrong], ground)


def test_a_plan_is_told_by_the_map_of_its_places() -> None:
    result = Result(
        agent="diego", city="testville", status="finished", steps=0, distance_m=0, reason="A day.",
        answer={"client": "Ines", "activities": [{"kind": "eat"}], "wishes": [], "time_zone": None,
                "length_m": 266.7167, "credits": ""},
        cost=CostRecord(), versions={},
    )  # fmt: skip
    points = [MapPoint(lat=0, lng=0.001 * at, label="", mark=str(at), style="stop") for at in (1, 2)]
    end = EndRecord(seq=0, result=result, exhibits=(MapExhibit(title="Map", points=tuple(points)),))
    told = RecordConverter(ground).convert(end)
    assert told["facts"] == [["Client", "Ines"], ["Length m", "266.7"]]
    assert [mark["sign"] for mark in told["map"]["marks"]] == ["1", "2"]
    assert told["legend"] == [["stop", "disc", "place to visit"]]


@pytest.mark.slow
def test_what_the_world_wrote_is_plain_text(tmp_path: Path) -> None:
    folder = keep_made_run(tmp_path / "run", size=16, shop="Bar\u202e\x1b[31m <img src=x onerror=alert(1)>")
    text = json.dumps(RunFeed(folder, ground).read_records(), ensure_ascii=False)
    assert "\u202e" not in text
    assert "\\u001b" not in text
    assert "<img src=x onerror=alert(1)>" in text  # which the page shows as it is
