"""The one way to services: verdicts, streams, recordings of refusals, and pages."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import pytest
from scripted_service import Reply, ScriptedService

from virl.errors import BadInput, BudgetExceeded, ProviderError, Verdict
from virl.money.book import Price
from virl.money.ledger import Ledger
from virl.platform.providers.http.replies import ExpectedBody, HttpFault, HttpReply, usual_judge
from virl.platform.providers.http.service import Limits, Pace, Request, Service
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.platform.providers.http.stored_replies import Keeping, Recording, Replay, RequestName
from virl.platform.providers.rentcast.listings import every_page

PRICED = Price("thing", 1, 10_000)


def service(server: ScriptedService, keeping: Keeping | None = None, **more: object) -> Service:
    limits = Limits(Timeouts(), Retries(further=2), pace=Pace(sleep=lambda _: None))
    return Service("Things", [server.url], keeping or Keeping(), limits=limits, **more)  # type: ignore[arg-type]


def asked(server: ScriptedService, url: Callable[[], str] | None = None, price: Price = PRICED) -> Request:
    return Request(RequestName("thing", '{"a": 1}'), url or f"{server.url}/thing", price=price)


def too_much(expected: ExpectedBody, reply: HttpReply) -> HttpReply | HttpFault:
    judged = usual_judge(expected, reply)
    if isinstance(judged, HttpFault) and judged.code == "big":
        return HttpFault("ask for less", "smaller", status=reply.status)
    return judged


@pytest.mark.parametrize(
    ("reply", "verdict", "words", "tries"),
    [
        (Reply("<body><p>Come <b>later</b></p>", 503), "wait", "status 503: Come later: try again later", 3),
        (Reply({"error": {"code": "no", "message": "not you"}}, 403), "refused", "code no: not you", 1),
        (Reply({"error": "big", "message": "much"}, 400), "smaller", "thing: ask for less", 1),
        (Reply("no JSON"), "wait", "the reply is no JSON object", 3),
        (Reply({}, 302, {"location": "ftp://elsewhere"}), "never", "it redirects without an address", 1),
    ],
)
def test_a_refusal_has_a_verdict_and_the_services_words(
    reply: Reply, verdict: Verdict, words: str, tries: int
) -> None:
    with ScriptedService({"/thing": [reply]}) as server, pytest.raises(ProviderError) as refused:
        service(server, judge=too_much).json(asked(server))
    assert refused.value.verdict == verdict
    assert words in str(refused.value)
    assert len(server.asked) == tries


def test_what_is_refused_costs_nothing_and_what_would_cost_too_much_is_not_sent() -> None:
    keeping = Keeping(ledger=Ledger(0.015))
    with ScriptedService({"/thing": [Reply("", 500), Reply({"a": 1})]}) as server:
        way = service(server, keeping)
        assert way.json(asked(server)) == {"a": 1}
        assert keeping.ledger.total().usd == pytest.approx(0.01)
        with pytest.raises(BudgetExceeded):
            way.json(asked(server))
    assert len(server.asked) == 2


def test_a_stream_begins_anew_with_each_try() -> None:
    file = BytesIO()
    with ScriptedService({"/thing": [Reply("busy", 503), Reply("all of it")]}) as server:
        file.write(b"what was there")
        service(server).download(asked(server), file)
    assert file.getvalue() == b"all of it"


def test_an_address_of_another_scheme_is_not_followed() -> None:
    with ScriptedService({}) as server, pytest.raises(ProviderError, match="unsafe address"):
        service(server).bytes(asked(server, lambda: "file:///etc/passwd"))


def test_a_final_refusal_is_recorded_and_replayed(tmp_path: Path) -> None:
    told = []
    with ScriptedService({"/thing": [Reply({"message": "never"}, 400)]}) as server:
        for keeping in (Keeping(record=Recording(tmp_path)), Keeping(replay=Replay(tmp_path))):
            with pytest.raises(ProviderError) as refused:
                service(server, keeping).json(asked(server))
            told.append(str(refused.value))
    assert told[0] == told[1]
    assert len(server.asked) == 1
    with pytest.raises(BadInput, match="either recorded or replayed"):
        Keeping(record=Recording(tmp_path), replay=Replay(tmp_path))


def test_keys_of_other_services_are_taken_out_of_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "a-key-of-another-service-0123456789")
    reply = Reply({"message": "got a-key-of-another-service-0123456789"}, 400)
    with ScriptedService({"/thing": [reply]}) as server, pytest.raises(ProviderError, match=r"got \*\*\*"):
        service(server).json(asked(server))


def test_pages_are_asked_for_until_there_is_no_more() -> None:
    assert every_page(lambda number: ([number], number < 2), 5) == ([0, 1, 2], False)
    assert every_page(lambda number: ([number], True), 2) == ([0, 1], True)
