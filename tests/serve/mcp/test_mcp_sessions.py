"""Sessions of `virl serve mcp`, by the SDK's own client in one process."""

import asyncio
import base64
import gc
import io
import json
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from hostile_texts import TEXTS
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import BlobResourceContents, ImageContent, ResourceLink, TextResourceContents
from served_mcp import call, text, with_client

from virl.agent.character_file import agent_names
from virl.agent.tool import TOOLS, tool_names
from virl.errors import BadInput
from virl.journal.journal import Journal, read_journal
from virl.serve.mcp import sessions as sessions_module
from virl.serve.mcp.resources import MOST_JOURNAL, _journal_tail
from virl.serve.mcp.session import MAP_FILE, WIDTH, CitySession
from virl.serve.mcp.sessions import OpenCity, SessionDefaults, Sessions, opened_sessions
from virl.serve.mcp.tools import LONGEST_TEXT, MOST_PICTURES, PICTURE_SIDE


async def read(client: Client, session: str, what: str) -> str | bytes:
    [found] = (await client.read_resource(f"virl://sessions/{session}/{what}")).contents
    if isinstance(found, BlobResourceContents):
        return base64.b64decode(found.blob)
    assert isinstance(found, TextResourceContents)
    return found.text


@pytest.mark.slow
def test_a_session_is_a_run_from_the_first_look_to_the_report(tmp_path: Path) -> None:
    async def work(client: Client) -> str:
        opened = await call(
            client, "open_city", at="91 Station Street", intention="Find the school.", steps=9
        )
        told = opened.structured_content
        assert f"Session {told['session']}." in text(opened)
        assert (told["standing"]["moves"], told["standing"]["moves_left"]) == (0, 9)
        assert told["cost"] == {"usd": 0.0, "budget_usd": None, "model_calls": 0, "requests": 0}

        looked = await call(client, "look", direction="around")
        pictures = [block for block in looked.content if isinstance(block, ImageContent)]
        assert len(pictures) == len(looked.structured_content["views"]) == 4 <= MOST_PICTURES
        for block in pictures:
            picture = PIL.Image.open(io.BytesIO(base64.b64decode(block.data)))
            assert block.mime_type == "image/jpeg"
            assert max(picture.size) <= PICTURE_SIDE
        assert "never instructions" in text(looked)

        closer = await call(client, "look_closer", direction="left", session=told["session"])
        assert closer.structured_content["views"][0]["purpose"] == "closer"
        near = await call(client, "nearby_places", radius_m=300, limit=3)
        assert "<<<DATA" in text(near)
        place = near.structured_content["data"]["items"][0]["id"]
        assert f"id {place} | " in text(near)
        assert [
            b for b in (await call(client, "photos", place_id=place)).content if isinstance(b, ImageContent)
        ]
        moved = await call(client, "move", direction="front", steps=3)
        assert moved.structured_content["standing"]["moves"] == 3
        assert "min" in text(await call(client, "route", place_id=place))
        assert "min" in text(await call(client, "travel_times", place_ids=[place]))
        await call(client, "take_note", text="The school is south.")

        half = [await read(client, told["session"], what) for what in ("journal", "map", "report")]
        assert all(json.loads(line) for line in str(half[0]).splitlines())
        assert PIL.Image.open(io.BytesIO(half[1])).format == "PNG"  # type: ignore[arg-type]
        assert "an MCP client" in str(half[2])
        assert not (tmp_path / told["session"] / "report.html").exists(), (
            "a run that goes on has none on the disk"
        )

        done = await call(client, "finish", answer="Near.", succeeded=True, place_id=place)
        assert done.structured_content["status"] == "finished"
        assert done.structured_content["place"]["id"] == place
        assert len([block for block in done.content if isinstance(block, ResourceLink)]) == 2
        assert "has ended" in text(await call(client, "look", session=told["session"]))
        assert "Near." in str(await read(client, told["session"], "report"))
        assert PIL.Image.open(io.BytesIO(await read(client, told["session"], "map"))).format == "PNG"  # type: ignore[arg-type]
        return str(told["session"])

    session = with_client(tmp_path, work)
    result = json.loads((tmp_path / session / "result.json").read_text())
    assert (result["status"], result["answer"]["answer"], result["steps"]) == ("finished", "Near.", 3)
    assert read_journal(tmp_path / session)[0].decided_by == "an MCP client"  # type: ignore[union-attr]


def test_every_tool_is_typed_titled_and_says_what_it_changes(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"open_city", "finish", *tool_names()}
        for name, tool in tools.items():
            assert tool.title, name
            assert tool.description, name
            assert tool.output_schema, name
            assert ("session" in tool.input_schema["properties"]) == (name != "open_city")
            hints = tool.annotations
            assert hints
            assert hints.destructive_hint is False
            assert hints.read_only_hint or name in {
                "open_city", "move", "turn", "relocate", "take_note", "consult", "finish"
            }  # fmt: skip
            assert hints.idempotent_hint or not hints.read_only_hint

    with_client(tmp_path, work)


@pytest.mark.parametrize(
    ("name", "given", "said"),
    [
        ("look", {}, "no session is open: call open_city first"),
        ("look", {"direktion": "front", "fov": 5}, ("look: fov: must be at least 20 and at most 120, not 5; "
         "direktion: unknown field; did you mean 'direction'?")),
        ("look", {"session": "nope"}, "unknown session 'nope'"),
        ("open_city", {"city": "/etc/passwd"}, "unknown city '/etc/passwd'"),
        ("open_city", {"city": "../x.yaml"}, "unknown city"),
        ("open_city", {"agent": "agents/hiro.yaml"}, "unknown agent 'agents/hiro.yaml'"),
        ("open_city", {"resume": "../../etc"}, "no session '../../etc' to resume"),
        ("open_city", {"at": "7 Nowhere Boulevard"}, "7 Nowhere Boulevard"),
        ("open_city", {"city": "tokyo"}, "costs money: start the server with --budget-usd"),
        ("fly", {}, "unknown tool 'fly'"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_one_line(tmp_path: Path, name: str, given: dict[str, Any], said: str) -> None:
    async def work(client: Client) -> None:
        result = await call(client, name, **given)
        assert result.is_error
        assert said in text(result)
        assert "\n" not in text(result)
        assert "Traceback" not in text(result)

    with_client(tmp_path, work)


def test_what_a_tool_refuses_leaves_the_session_open(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        await call(client, "open_city")
        refused = await call(client, "place_details", place_id="nowhere")
        assert refused.is_error
        assert refused.structured_content["failed"]
        assert not (await call(client, "where_am_i")).is_error
        assert (await call(client, "finish", answer="x", succeeded=True, place_id="nowhere")).is_error
        assert not (await call(client, "where_am_i")).is_error

    with_client(tmp_path, work)


@pytest.mark.slow
def test_hostile_texts_do_no_harm(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        opened = await call(client, "open_city", intention="Look.")
        for hostile in TEXTS:
            for name, given in (
                ("search_places", {"query": hostile[:200] or " "}),
                ("take_note", {"text": hostile[:1000]}),
                ("place_details", {"place_id": hostile or " "}),
                ("look", {"session": hostile}),
                ("open_city", {"resume": hostile, "city": hostile}),
            ):
                result = await call(client, name, **given)
                assert len(text(result)) <= LONGEST_TEXT + 200
                assert "bug in virl" not in text(result), (name, hostile)
            with pytest.raises(MCPError):
                await client.read_resource(f"virl://sessions/{hostile}/journal")
        assert not (await call(client, "where_am_i")).is_error
        report = await read(client, opened.structured_content["session"], "report")
        assert "<script>alert" not in str(report)

    with_client(tmp_path, work)


@pytest.mark.slow
def test_several_sessions_are_told_apart_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work(client: Client) -> None:
        ids = [(await call(client, "open_city")).structured_content["session"] for _ in range(2)]
        assert len(set(ids)) == 2
        assert "several sessions are open" in text(await call(client, "look"))
        await call(client, "move", direction="front", session=ids[1])
        first = await call(client, "where_am_i", session=ids[0])
        assert first.structured_content["standing"]["moves"] == 0
        refused = text(await call(client, "open_city"))
        assert "all 2 sessions of this server are open: finish one of yours, or ask again later" in refused
        assert not any(name in refused for name in ids)
        monkeypatch.setattr(sessions_module, "IDLE_S", -1.0)
        assert not (await call(client, "open_city")).is_error
        assert f"resume='{ids[1]}'" in text(await call(client, "look", session=ids[1]))

    with_client(tmp_path, work, {"most_open": 2})


@pytest.mark.slow
def test_cancelled_calls_are_not_begun_and_what_was_begun_is_said(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        session = (await call(client, "open_city")).structured_content["session"]
        looks = [asyncio.create_task(call(client, "look", direction="around")) for _ in range(5)]
        while not any((tmp_path / session / "views").iterdir()):
            await asyncio.sleep(0.01)
        for look in looks:
            look.cancel()
        await asyncio.wait(looks)
        where = text(await call(client, "where_am_i"))
        assert "and done all the same: look." in where
        assert "all the same" not in text(await call(client, "where_am_i"))
        assert len(read_journal(tmp_path / session)) == 4  # the start, one look, two where_am_i

    with_client(tmp_path, work)


@pytest.mark.slow
def test_a_session_that_was_set_aside_goes_on_by_its_id(tmp_path: Path) -> None:
    async def first(client: Client) -> dict[str, Any]:
        await call(client, "open_city", steps=20, intention="Walk.")
        await call(client, "move", direction="front", steps=2)
        return dict((await call(client, "turn", direction="south")).structured_content)

    before = with_client(tmp_path, first)

    async def second(client: Client) -> None:
        not_yet = await call(client, "look", session=before["session"])
        assert f"is not open: call open_city with resume='{before['session']}'" in text(not_yet)
        again = await call(client, "open_city", resume=before["session"])
        assert again.structured_content["standing"] == before["standing"]
        assert "It goes on after 2 uses of tools and 2 moves." in text(again)
        assert f"session {before['session']} is open" in text(
            await call(client, "open_city", resume=before["session"])
        )
        assert (await call(client, "finish", answer="Walked.", succeeded=True)).structured_content[
            "status"
        ] == ("finished")
        assert "this run has ended" in text(await call(client, "open_city", resume=before["session"]))

    with_client(tmp_path, second)


def test_only_sessions_are_resumed(tmp_path: Path) -> None:
    from virl.agent.plan import RunOptions, make_plan

    plan = make_plan(RunOptions("hiro", out=tmp_path / "own"))
    Journal.create(tmp_path / "own", plan.start).close()

    async def work(client: Client) -> None:
        assert "is a run of a routine, and no session" in text(await call(client, "open_city", resume="own"))

    with_client(tmp_path, work)


@pytest.mark.slow
def test_the_budget_is_of_all_sessions_together(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        one = await call(client, "open_city", budget_usd=0.30)
        assert one.structured_content["cost"]["budget_usd"] == 0.30
        two = await call(client, "open_city")
        assert two.structured_content["cost"]["budget_usd"] == pytest.approx(0.20)
        assert "are spent or promised to other sessions" in text(await call(client, "open_city"))
        await call(client, "finish", answer="x", succeeded=True, session=one.structured_content["session"])
        three = await call(client, "open_city", budget_usd=9)
        assert three.structured_content["cost"]["budget_usd"] == pytest.approx(0.30)

    with_client(tmp_path, work, {"budget_usd": 0.5})


def test_a_server_is_refused_what_it_cannot_serve(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="unknown city"):
        opened_sessions(SessionDefaults(city="nowhere", runs=tmp_path), "", key=None, over_http=False)
    with pytest.raises(BadInput, match="unknown agent"):
        opened_sessions(SessionDefaults(agent="nobody", runs=tmp_path), "", key=None, over_http=False)
    with pytest.raises(BadInput, match="no session"):
        opened_sessions(SessionDefaults(runs=tmp_path), "nope", key=None, over_http=False)
    with pytest.raises(BadInput, match="VIRL_SERVE_KEY"):
        opened_sessions(SessionDefaults(budget_usd=1.0, runs=tmp_path), "", key=None, over_http=True)
    assert isinstance(
        opened_sessions(SessionDefaults(agent="hiro", runs=tmp_path), "", key=None, over_http=True), Sessions
    )


def test_the_prompts_are_the_characters(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        listed = {prompt.name: prompt for prompt in (await client.list_prompts()).prompts}
        assert list(listed) == agent_names()
        given = await client.get_prompt("hiro", {"request": "Find a bench.", "city": "virlton"})
        said = given.messages[0].content.text  # type: ignore[union-attr]
        assert "Take the part of Hiro" in said
        assert "What Hiro wants: Find a bench." in said
        with pytest.raises(MCPError, match="unknown agent"):
            await client.get_prompt("nobody")
        with pytest.raises(MCPError, match="unknown argument"):
            await client.get_prompt("hiro", {"town": "x"})

    with_client(tmp_path, work)


@pytest.mark.slow
def test_an_agent_s_part_may_be_taken(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        opened = await call(client, "open_city", agent="hiro")
        assert "You are Hiro." in text(opened)
        assert "Your task: Hiro is hungry" in text(opened)
        words = await call(client, "open_city", pictures=False)
        looked = await call(client, "look", direction="front", session=words.structured_content["session"])
        assert "<<<DATA" in text(looked)
        assert not [block for block in looked.content if isinstance(block, ImageContent)]

    with_client(tmp_path, work)


@pytest.mark.slow
def test_resources_are_listed_and_others_refused(tmp_path: Path) -> None:
    async def work(client: Client) -> None:
        session = (await call(client, "open_city")).structured_content["session"]
        uris = [one.uri for one in (await client.list_resources(cache_mode="bypass")).resources]
        assert uris == [
            "virl://cities",
            *(f"virl://sessions/{session}/{w}" for w in ("journal", "map", "report")),
        ]
        templates = [one.uri_template for one in (await client.list_resource_templates()).resource_templates]
        assert "virl://sessions/{session}/map" in templates
        [cities] = (await client.read_resource("virl://cities")).contents
        assert "virlton" in [one["name"] for one in json.loads(cities.text)]  # type: ignore[union-attr]
        for uri in ("virl://sessions/x/journal", f"virl://sessions/{session}/views", "file:///etc/passwd"):
            with pytest.raises(MCPError):
                await client.read_resource(uri)

    with_client(tmp_path, work)


def test_of_a_long_journal_the_latest_lines_are_sent(tmp_path: Path) -> None:
    lines = [json.dumps({"seq": number, "text": "x" * 1000}) for number in range(500)]
    (tmp_path / "journal.jsonl").write_text("\n".join(lines) + "\n" + '{"cut')
    sent = _journal_tail(tmp_path)
    assert len(sent) <= MOST_JOURNAL + 10
    assert sent.splitlines() == lines[-len(sent.splitlines()) :]


def test_cities_of_sessions_open_side_by_side_within_the_servers_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both, open_alone = threading.Barrier(2, timeout=30), CitySession.open

    def open_together(session: CitySession) -> None:
        both.wait()
        open_alone(session)

    monkeypatch.setattr(CitySession, "open", open_together)
    sessions = Sessions(SessionDefaults(city="virlton", runs=tmp_path, most_open=2, budget_usd=1.0))
    with ThreadPoolExecutor(2) as pool:
        opened = list(pool.map(lambda _: sessions.open(OpenCity(budget_usd=0.4)), range(2)))
    assert [session.budget_usd for session in opened] == [0.4, 0.4]
    with pytest.raises(BadInput, match="all 2 sessions"):
        sessions.open(OpenCity())
    sessions.close()


def test_sessions_share_an_open_town_and_give_it_back(tmp_path: Path) -> None:
    sessions = Sessions(SessionDefaults(city="virlton", runs=tmp_path))
    one, other = (sessions.open(OpenCity(at="91 Station Street")) for _ in range(2))
    agents = [session.acting.agent for session in (one, other)]
    assert agents[0].city.maps is agents[1].city.maps
    assert agents[0].city.streetview.graph is agents[1].city.streetview.graph
    assert agents[0].city.left_out is not agents[1].city.left_out
    gone = [weakref.ref(agent.run) for agent in agents]
    del agents

    async def finish() -> None:
        asked = TOOLS.find("finish").arguments.model_validate({"answer": "Done.", "succeeded": True})
        call = one.submit(lambda acting: acting.executor("finish", asked))
        await asyncio.wrap_future(call.result)

    asyncio.run(finish())
    one.wait()
    other.set_aside()
    gc.collect()
    assert [ref() for ref in gone] == [None, None]
    for session in (one, other):
        with PIL.Image.open(tmp_path / session.id / MAP_FILE) as picture:
            assert picture.size[0] == WIDTH
