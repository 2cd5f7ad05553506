"""What a model that uses tools is sent in a world that says hostile things."""

from pathlib import Path

import pytest
from hostile_texts import TEXTS, hidden_in
from hostile_world import hostile
from made_life import Life, finish, made_character, virlton
from openai_server import tool_calls

HOSTILE = "Bar\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\U000e0041"


@pytest.mark.slow
def test_no_message_steers_or_hides_and_data_stays_between_its_marks(tmp_path: Path) -> None:
    character = made_character(name=HOSTILE, background=" ".join(TEXTS), intention=HOSTILE)
    life = Life(hostile(virlton(), TEXTS), tmp_path / "life", character)
    places = life.city.places.nearby(life.city.center, 400.0)[:3]
    life.live(
        [
            tool_calls(("nearby_places", {}), ("search_places", {"query": "noodles"})),
            tool_calls(*(("place_details", {"place_id": place.id}) for place in places)),
            tool_calls(("place_details", {"place_id": HOSTILE}), ("geocode", {"address": HOSTILE})),
            tool_calls((HOSTILE, {}), ("move", {"direction": HOSTILE, "why": HOSTILE})),
            tool_calls(finish()),
        ]
    )
    told = [
        str(message["content"])
        for request in life.requests
        for message in request.messages
        if message["role"] != "assistant"
    ]
    assert sum("Bar" in text for text in told) > 5
    assert [found for text in told if (found := hidden_in(text))] == []
    results = [text for text in life.told() if "<<<DATA" in text]
    assert len(results) >= 3
    assert all(text.count("<<<DATA") == text.count("DATA>>>") == 1 for text in results)
