"""Asks Google which services a key reaches, and judges the answers."""

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Literal

from virl.doctor.probes import Probe, Way, probes
from virl.errors import BudgetExceeded, NoImagery, NoRoute, NoStreetView, NotFound, ProviderError
from virl.geo.globe import LatLng
from virl.money.ledger import Ledger
from virl.platform.city.left_out import LeftOut
from virl.platform.providers.google.client import GoogleHttp
from virl.platform.providers.google.settings import KEY_VARIABLE, GoogleSettings, Keys
from virl.platform.providers.http.pace import ask_all
from virl.platform.providers.http.settings import Retries, Timeouts
from virl.platform.providers.http.stored_replies import Keeping, Recording

Status = Literal["reached", "refused", "limited", "failing", "unreachable", "unclear", "not asked"]
"""Result of asking a service: `reached`, `refused` (the key may not), `limited` (quota), `failing` ...

`refused`: the key may not. `limited`: it may, but a quota is used up. `failing`: no sensible answer.
`unreachable`: no answer at all. `unclear`: the answer does not tell."""

WRONG_KEY = "virl-doctor-sends-no-key"
TIMEOUTS = Timeouts(connect=3.0, read=10.0, total=15.0)  # seconds; chosen: somebody waits
RETRIES = Retries(further=1, first_wait=0.3, longest_wait=1.0)  # chosen; what is paid is tried once
_DENIED = ("PERMISSION_DENIED", "REQUEST_DENIED", "UNAUTHENTICATED", "API_KEY_INVALID")
_INVALID = ("INVALID_ARGUMENT", "INVALID_REQUEST")
_LIMITED = ("RESOURCE_EXHAUSTED", "OVER_QUERY_LIMIT", "OVER_DAILY_LIMIT")


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """The outcome of one probe of a Google service: its status, details and a remedy."""

    service: str
    """Name of the service in Google's console."""
    endpoint: str
    asked: str
    status: Status
    detail: str
    usd: float
    """List price of the probe in dollars; 0 if it is free or was refused."""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class OpenOutcome:
    """The outcome of one question to a service of open data: its status, details and a remedy."""

    service: str
    """Name of the service, with the address of its server."""
    asked: str
    status: Status
    detail: str
    run: str
    """Words on the requests that a run sends to the service."""
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class ProbeOutcomes:
    """The outcomes of all probes of Google's services, and what they cost."""

    outcomes: tuple[ProbeOutcome, ...]
    spent_usd: float
    """Dollars by list price of requests that were answered, or may have been."""


class _Questioner:
    """A client that sends probes with a key, with short timeouts and without a cache."""

    def __init__(
        self,
        settings: GoogleSettings,
        keys: Keys,
        budget_usd: float | None,
        left_out: LeftOut,
        record: Recording | None,
    ) -> None:
        """Open clients with `keys` for free, refused and paid probes, and a client with a wrong key."""
        self._settings = settings.model_copy(update={"timeouts": TIMEOUTS, "retries": RETRIES})
        once = self._settings.model_copy(update={"retries": Retries(further=0)})
        self._ledger = None if budget_usd is None else Ledger(budget_usd)
        plans: tuple[tuple[Way, GoogleSettings, Ledger], ...] = (
            ("free", self._settings, Ledger(0.0)),
            ("refused", self._settings, Ledger()),
            ("paid", once, self._ledger or Ledger(0.0)),
        )
        self._ways: dict[Way, GoogleHttp] = {
            way: GoogleHttp(chosen, keys, Keeping(ledger=ledger, left_out=left_out, record=record))
            for way, chosen, ledger in plans
        }
        self._wrong = GoogleHttp(self._settings, Keys(WRONG_KEY))

    def close(self) -> None:
        """Close the client's connections."""
        for http in (*self._ways.values(), self._wrong):
            http.close()

    @property
    def spent_usd(self) -> float:
        """Dollars by list price of requests that were answered, or may have been."""
        return round(sum(http.ledger.total().usd for http in self._ways.values()), 6)

    def outcome(self, probe: Probe, here: LatLng) -> ProbeOutcome:
        """Send one probe about the position `here`, and return its outcome."""
        status: Status = "not asked"
        remedy = ""
        if probe.way == "paid" and (usd := probe.usd(self._settings)) > self._budget_left():
            detail, remedy = f"costs ${usd:.3f}", "--real"
            if self._ledger is not None:
                detail += f", and ${self._budget_left():.3f} of the budget is left"
                remedy = "a higher --budget-usd"
            return _make_outcome(self._settings, probe, status, detail, remedy)
        try:
            detail = probe.ask(self._ways[probe.way], here)
            status = "reached"
        except ProviderError as fault:
            if probe.way == "refused" and fault.code in _INVALID:
                return self._compare_with_key(probe, here)
            return self._judge(probe, fault)
        except BudgetExceeded:
            detail, remedy = "a further request would exceed the budget", "a higher --budget-usd with --real"
        except NoStreetView as fault:
            detail, remedy = str(fault), "another --city"
        except (NoImagery, NotFound, NoRoute):
            status, detail = "reached", "no result at this position"
        return _make_outcome(self._settings, probe, status, detail, remedy)

    def _budget_left(self) -> float:
        """Return the dollars left of the budget; 0 without a budget."""
        if self._ledger is None:
            return 0.0
        return round((self._ledger.limit_usd or 0.0) - self._ledger.spent_usd, 6)

    def _compare_with_key(self, probe: Probe, here: LatLng) -> ProbeOutcome:
        """Send a refused probe with a wrong key; return "reached" if refused for that key, or why not."""
        usd = probe.usd(self._settings)
        try:
            probe.ask(self._wrong, here)
        except ProviderError as fault:
            if _judgement(fault)[0] == "refused":
                detail = "the key is accepted; the request is refused for its content, as expected"
                return _make_outcome(self._settings, probe, "reached", detail)
            if fault.code not in _INVALID:
                return self._judge(probe, fault)
        detail = "a wrong key gets the same reply"
        return _make_outcome(self._settings, probe, "unclear", detail, f"test it with --real, for ${usd:.3f}")

    def _judge(self, probe: Probe, fault: ProviderError) -> ProbeOutcome:
        """Return the outcome of a probe that failed, by its error."""
        status, remedy = _judgement(fault)
        return _make_outcome(self._settings, probe, status, fault.reason, remedy)


def ask_google(
    settings: GoogleSettings,
    keys: Keys | None,
    here: LatLng,
    budget_usd: float | None = None,
    tell: Callable[[], object] = lambda: None,
    *,
    left_out: LeftOut | None = None,
    record: Recording | None = None,
) -> ProbeOutcomes:
    """Return the outcomes of probing Google's services with `keys` (`None`: send nothing); `tell` after each.

    Args:
        settings: endpoints and prices.
        keys: the key in question; `None` asks nothing.
        here: where to ask about, a position with street view.
        budget_usd: most dollars for paid probes; `None` asks none of them.
        tell: called after each probe.
        left_out: counts what cannot be read in answers.
        record: where answers are recorded.
    """
    asked = probes(settings)
    if keys is None:
        skipped = [
            _make_outcome(settings, probe, "not asked", "no usable key", f"set {KEY_VARIABLE}")
            for probe in asked
        ]
        return ProbeOutcomes(_group_by_service(skipped), 0.0)
    with closing(_Questioner(settings, keys, budget_usd, left_out or LeftOut(), record)) as questioner:

        def ask(probe: Probe) -> ProbeOutcome:
            """Return the outcome of one probe, and report progress."""
            outcome = questioner.outcome(probe, here)
            tell()
            return outcome

        free = ask_all(ask, [probe for probe in asked if probe.way != "paid"])
        paid = [ask(probe) for probe in asked if probe.way == "paid"]  # one by one, the cheapest first
        return ProbeOutcomes(_group_by_service([*free, *paid]), questioner.spent_usd)


def _judgement(fault: ProviderError) -> tuple[Status, str]:
    """Return (status, remedy) that an error of a service implies."""
    if fault.code in _DENIED or fault.status in {401, 403}:
        return "refused", fault.remedy
    if fault.code in _LIMITED or fault.status == 429:
        return "limited", fault.remedy
    if fault.status is None and fault.__cause__ is None:  # else it was raised while a reply was read
        return "unreachable", "check the network, and VIRL_GOOGLE_BASE_URL if it is set"
    return "failing", "run virl doctor again"


def _make_outcome(
    settings: GoogleSettings, probe: Probe, status: Status, detail: str, remedy: str = ""
) -> ProbeOutcome:
    """Return the outcome of a probe with its service, endpoint and list price, by the settings."""
    service = settings.endpoint(probe.endpoint).service
    usd = probe.usd(settings) if probe.way == "paid" else 0.0
    return ProbeOutcome(service, probe.endpoint, probe.asks, status, detail, usd, remedy)


def _group_by_service(outcomes: Sequence[ProbeOutcome]) -> tuple[ProbeOutcome, ...]:
    """Return the outcomes grouped by service, services in the order of first appearance."""
    order = list(dict.fromkeys(outcome.service for outcome in outcomes))
    return tuple(sorted(outcomes, key=lambda outcome: order.index(outcome.service)))


State = Literal["ok", "missing", "broken"]
"""State of a finding: `ok`; `missing`, a part that can be added; `broken`, the offline core fails."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding of the doctor on one part of the machine or one service: state, details and remedy."""

    what: str
    state: State
    detail: str
    """Few words on what was found."""
    needed_for: str
    """Purpose that the part is needed for."""
    remedy: str = ""
    """Way to get or repair the part; empty if it is there."""
    mind: str = ""
    """Language model of the finding, as `--mind` takes it; empty for other findings."""
