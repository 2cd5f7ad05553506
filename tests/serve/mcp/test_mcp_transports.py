"""`virl serve mcp` as a process of its own: over stdio and over streamable HTTP."""

import asyncio
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.types import ImageContent
from served_mcp import call, over_http, text

from virl.serve.mcp import server

KEY = "a-key-of-the-test-server"
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
}
ACCEPT = {"Accept": "application/json, text/event-stream"}


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "virl", "serve", "mcp", *more]


def stdio(folder: Path, *more: str) -> StdioServerParameters:
    name, *arguments = command(*more)
    return StdioServerParameters(command=name, args=arguments, cwd=folder, env=dict(os.environ))


async def walk(client: Client) -> str:
    """A short session."""
    assert len((await client.list_tools()).tools) == 20
    opened = await call(client, "open_city", intention="Look at the street.")
    looked = await call(client, "look", direction="front")
    assert [block for block in looked.content if isinstance(block, ImageContent)]
    await call(client, "move", direction="front")
    done = await call(client, "finish", answer="A street.", succeeded=True)
    assert done.structured_content["status"] == "finished"
    return str(opened.structured_content["session"])


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_stdio(tmp_path: Path, mode: Any) -> None:
    async def work() -> str:
        async with Client(stdio(tmp_path), mode=mode) as client:
            return await walk(client)

    session = asyncio.run(work())
    assert json.loads((tmp_path / "runs" / session / "result.json").read_text())["status"] == "finished"


def test_a_client_that_closes_its_end_of_stdout_is_no_bug(tmp_path: Path) -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(command(), stdin=pipe, stdout=pipe, stderr=pipe, cwd=tmp_path, bufsize=0) as server:
        assert server.stdin
        assert server.stdout
        assert server.stderr
        server.stdin.write(json.dumps(HELLO).encode() + b"\n")
        server.stdout.readline()
        server.stdout.close()
        ping = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"}).encode() + b"\n"
        with contextlib.suppress(BrokenPipeError):  # raised once the server has ended
            while server.poll() is None:
                server.stdin.write(ping)
        assert server.wait() == 0
        assert b"the client has closed its end" in server.stderr.read()


def test_no_more_is_read_of_a_client_that_takes_no_answers() -> None:
    taken = asyncio.Event()

    class Wire:
        async def send(self, _: object) -> None:
            await taken.wait()

    async def work() -> None:
        stdin = server._Stdin(StringIO("a request\n"))
        answers = stdin.answers = server._AnswerSender(Wire())
        said: Any = None
        unread = [asyncio.create_task(answers.send(said)) for _ in range(server._MOST_WAITING + 1)]
        await asyncio.sleep(0)
        reading = asyncio.create_task(stdin.readline())
        done, _ = await asyncio.wait([reading], timeout=0.2)
        assert not done
        taken.set()
        assert await reading == "a request\n"
        await asyncio.gather(*unread)

    asyncio.run(work())


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_over_http(tmp_path: Path, mode: Any) -> None:
    async def work(url: str) -> str:
        async with Client(url, mode=mode) as client:
            return await walk(client)

    with over_http(tmp_path) as url:
        session = asyncio.run(work(url))
    assert (tmp_path / session / "report.html").is_file()


@pytest.mark.slow
def test_a_session_goes_on_by_its_id_after_a_kill(tmp_path: Path) -> None:
    """The process is killed without warning; a new one is given the id."""

    def ask(process: "subprocess.Popen[str]", id_: int, method: str, **params: Any) -> Any:
        assert process.stdin
        assert process.stdout
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": params}
        process.stdin.write(json.dumps(message) + "\n")
        process.stdin.flush()
        while (answer := json.loads(process.stdout.readline())).get("id") != id_:
            pass
        return answer["result"]

    process = subprocess.Popen(
        command(),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ask(process, 1, "initialize", **HELLO["params"])  # type: ignore[arg-type]
    assert process.stdin
    process.stdin.write('{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
    opened = ask(process, 2, "tools/call", name="open_city", arguments={"steps": 20})
    session = opened["structuredContent"]["session"]
    moved = ask(process, 3, "tools/call", name="move", arguments={"direction": "front", "steps": 3})
    process.send_signal(signal.SIGKILL)
    process.communicate()

    async def work(*more: str, **given: str) -> dict[str, Any]:
        async with Client(stdio(tmp_path, *more)) as client:
            if given:
                return dict((await call(client, "open_city", **given)).structured_content)
            return dict((await call(client, "where_am_i")).structured_content)

    assert asyncio.run(work(resume=session))["standing"] == moved["structuredContent"]["standing"]
    assert asyncio.run(work("--resume", session))["standing"] == moved["structuredContent"]["standing"]


@pytest.mark.slow
def test_what_is_wrong_with_the_options_is_one_line_on_stderr(tmp_path: Path) -> None:
    done = subprocess.run(
        command("--city", "nowhere"), cwd=tmp_path, capture_output=True, text=True, stdin=subprocess.DEVNULL,
        check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(r"virl: unknown city .nowhere.: .*\n", done.stderr), done.stderr


def test_foreign_pages_hosts_and_clients_without_the_key_are_refused(tmp_path: Path) -> None:
    with over_http(tmp_path, KEY) as url, httpx.Client(headers=ACCEPT) as client:
        keyed = {"Authorization": f"Bearer {KEY}"}
        assert client.post(url, json=HELLO, headers=keyed).status_code == 200
        assert client.post(url, json=HELLO).status_code == 401
        assert client.post(url, json=HELLO, headers={"Authorization": "Bearer no"}).status_code == 401
        assert client.post(url, json=HELLO, headers=keyed | {"Host": "evil.example"}).status_code == 421
        assert (
            client.post(url, json=HELLO, headers=keyed | {"Origin": "https://evil.example"}).status_code
            == 403
        )
        assert client.post(url, content=b"x" * 2_000_000, headers=keyed).status_code == 413
        own = client.post(url, json=HELLO, headers=keyed | {"Origin": "http://localhost:6274"})
        assert own.status_code == 200
        assert "mcp-session-id" in own.headers["access-control-expose-headers"]
        assert client.post(url.removesuffix("/mcp") + "/", json=HELLO, headers=keyed).status_code == 404


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}', b"\xff\xfe"]
)
def test_damaged_requests_are_refused(tmp_path: Path, body: bytes) -> None:
    with over_http(tmp_path) as url, httpx.Client(headers=ACCEPT) as client:
        answer = client.post(url, content=body, headers={"Content-Type": "application/json"})
        assert 400 <= answer.status_code < 500
        assert "Traceback" not in answer.text


OPEN = {"jsonrpc": "2.0", "id": 2, "method": "tools/call"} | {
    "params": {"name": "open_city", "arguments": {"intention": "Buy caf\ud83d.", "steps": 5}}
}


def over_stdio_whole(runs: Path) -> str:
    done = subprocess.Popen(
        command("--out", str(runs)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with done as server:
        assert server.stdin
        assert server.stdout
        for message in (HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"}, OPEN):
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        return next(line for line in server.stdout if '"id":2' in line)


def over_http_whole(runs: Path) -> str:
    with over_http(runs) as url, httpx.Client(headers=ACCEPT, timeout=60) as client:
        begun = client.post(url, json=HELLO).headers["mcp-session-id"]
        body, own = json.dumps(OPEN), {"mcp-session-id": begun, "Content-Type": "application/json"}
        return client.post(url, content=body, headers=own).text


@pytest.mark.parametrize("ask", [pytest.param(over_stdio_whole, marks=pytest.mark.slow), over_http_whole])
def test_half_a_letter_of_a_client_is_kept_and_answered_as_a_mark(
    tmp_path: Path, ask: Callable[[Path], str]
) -> None:
    assert "Buy caf\N{REPLACEMENT CHARACTER}." in ask(tmp_path)
    [journal] = tmp_path.glob("*/journal.jsonl")
    assert "Buy caf\N{REPLACEMENT CHARACTER}." in journal.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_client_with_the_key_walks(tmp_path: Path) -> None:
    async def work(url: str) -> None:
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {KEY}"}, timeout=60) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            assert "Session" in text(await call(client, "open_city"))

    with over_http(tmp_path, KEY) as url:
        asyncio.run(work(url))
