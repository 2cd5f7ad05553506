"""Asking another agent through MCP: its progress is told, and its questions are put to the client's user."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.types import ElicitRequestParams, ElicitResult
from served_mcp import call, text, with_client

from virl.journal.journal import read_journal
from virl.journal.records import NoteRecord


class User:
    """Says no libraries at the first question, and nothing afterwards."""

    def __init__(self, *answers: ElicitResult) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        return self.answers.pop(0) if self.answers else ElicitResult(action="decline")


def say(words: str) -> ElicitResult:
    return ElicitResult(action="accept", content={"say": words})


def notes(folder: Path, topic: str) -> list[NoteRecord]:
    return [one for one in read_journal(folder) if isinstance(one, NoteRecord) and one.topic == topic]


async def ask_diego(client: Client, told: list[str]) -> str:
    session = (await call(client, "open_city", steps=900)).structured_content["session"]

    async def progress(done: float, total: float | None, message: str | None) -> None:
        assert done == len(told) + 1
        told.append(message or "")

    result = await client.call_tool(
        "consult",
        {"agent": "diego", "request": "A quiet day with a museum, and lunch.", "from_here": False},
        progress_callback=progress,
        read_timeout_seconds=500,
    )
    assert not result.is_error, text(result)
    assert "diego: finished" in text(result)
    return str(session)


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_diego_asks_the_user_of_the_client(tmp_path: Path, mode: str) -> None:
    user, told = User(say("My feet hurt. hungr=95"), say("My feet hurt. hunger=95"), say("No libraries.")), []
    session = with_client(
        tmp_path, lambda client: ask_diego(client, told), elicitation_callback=user, mode=mode
    )
    assert "Anything to say?" in user.asked[0]
    assert "unknown feeling 'hungr': did you mean 'hunger'?" in user.asked[1]
    assert any("Change anything" in question for question in user.asked), "the day is proposed, too"
    heard = notes(tmp_path / session / "consulted" / "1", "feedback")
    assert heard[0].data["state"]["hunger"] == 95  # type: ignore[index]
    assert "No libraries." in heard[1].text
    assert told[0] == "diego starts"
    assert any(line.startswith("activity") for line in told)
    assert all(len(line) <= 200 and "\n" not in line for line in told)


@pytest.mark.slow
def test_a_client_that_cannot_ask_is_asked_nothing(tmp_path: Path) -> None:
    session = with_client(tmp_path, lambda client: ask_diego(client, []))
    assert not notes(tmp_path / session / "consulted" / "1", "feedback")


@pytest.mark.slow
def test_who_cancels_a_question_is_asked_no_more(tmp_path: Path) -> None:
    user = User(ElicitResult(action="cancel"))
    with_client(tmp_path, lambda client: ask_diego(client, []), elicitation_callback=user)
    assert len(user.asked) == 1


@pytest.mark.slow
def test_a_question_that_is_left_holds_nothing_up(tmp_path: Path) -> None:
    async def never(context: Any, params: ElicitRequestParams) -> ElicitResult:
        await asyncio.sleep(3600)
        raise AssertionError

    async def work(client: Client) -> None:
        await call(client, "open_city", steps=900)
        asking = asyncio.create_task(
            call(client, "consult", agent="diego", request="A quiet day.", from_here=False)
        )
        await asyncio.sleep(0)
        for _ in range(600):
            await asyncio.sleep(0.1)
            where = asyncio.create_task(call(client, "where_am_i"))
            done, _pending = await asyncio.wait([where], timeout=60)
            if done:
                break
        assert not where.result().is_error
        asking.cancel()

    with_client(tmp_path, work, elicitation_callback=never)
