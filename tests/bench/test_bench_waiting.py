"""Many episodes that wait for a language model at the same time: none is lost, the rate is kept."""

from benchmarks.perf.concurrency import Options, measure, served

EPISODES, QUESTIONS = 24, 2


def test_no_question_is_lost_though_requests_are_refused() -> None:
    options = Options(episodes=EPISODES, questions=QUESTIONS)
    with served(delay_s=0.3, limited=0.1, rate=100.0) as service:
        _, results = measure(service, options, EPISODES)
    (row,) = results["rows"]
    assert row["episodes"] == {"planned": EPISODES, "done": EPISODES, "failed": 0, "missing": 0}
    assert row["values"]["answered"][0] == 1.0
    assert service.answered == EPISODES * QUESTIONS
    assert service.refused > 0
    assert service.too_fast == 0
    assert row["cost"]["requests"] == service.answered + service.refused
    assert service.most_under_way >= EPISODES / 3
