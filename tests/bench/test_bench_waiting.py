"""Many walks that wait for a language model at the same time: none is lost, the rate is kept."""

from pathlib import Path

import pytest

from benchmarks.perf.concurrency import CITY, Options, measure, serve_replies, write_routes
from virl.platform.providers import open_city

EPISODES, STEPS = 24, 2


@pytest.mark.slow
def test_no_question_is_lost_though_requests_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write_routes(tmp_path / CITY, open_city(CITY), EPISODES)
    options = Options(models=("oracle",), mind="openai:test", data=str(tmp_path), max_steps=STEPS)
    with serve_replies(delay_s=0.3, limited=0.1, rate=100.0) as service:
        _, results = measure(service, options, EPISODES)
    (row,) = results["rows"][:1]
    assert row["episodes"] == {"planned": EPISODES, "done": EPISODES, "failed": 0, "missing": 0}
    assert service.answered == EPISODES * (STEPS + 1), "the landmarks, then each action"
    assert service.refused > 0
    assert service.too_fast == 0
    assert row["cost"]["requests"] == service.answered + service.refused
    assert service.most_under_way >= EPISODES / 3
