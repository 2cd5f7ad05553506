"""What is true is in the result of a session that has ended, and in no reply."""

import json
from pathlib import Path

import pytest
from mcp.client.client import Client
from served_mcp import call, with_client

KNOWN = "Known because"


@pytest.mark.slow
def test_no_reply_to_a_client_has_it(tmp_path: Path) -> None:

    async def work(client: Client) -> str:
        opened = await call(client, "open_city", at="91 Station Street", intention="A restaurant.", steps=5)
        replies = [opened, await call(client, "nearby_places", radius_m=300, limit=3)]
        place = replies[-1].structured_content["data"]["items"][0]["id"]
        replies.append(await call(client, "detect", labels=["trash bin"]))
        replies.append(await call(client, "finish", answer="Here.", succeeded=True, place_id=place))
        assert not any(KNOWN in one.model_dump_json() for one in replies)
        return str(opened.structured_content["session"])

    folder = tmp_path / with_client(tmp_path, work)
    assert KNOWN not in (folder / "journal.jsonl").read_text()
    told = json.loads((folder / "result.json").read_text())["truth"]
    assert KNOWN in told["known"]
    assert [one["claimed"] for one in told["checked"]][1:]
