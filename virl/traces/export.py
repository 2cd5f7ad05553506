"""Where spans and metrics go if no program around virl takes them: the exporters that the environment names.

The variables are OpenTelemetry's own, such as `OTEL_EXPORTER_OTLP_ENDPOINT`, `OTEL_TRACES_EXPORTER` and
`OTEL_SERVICE_NAME`; by default OTLP over HTTP to this machine, port 4318.
"""

import logging
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points, version
from typing import TYPE_CHECKING, Any, cast

from virl.errors import BadInput, ModelUnavailable
from virl.redaction import shown_url

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

CLOSING_S = 5.0
"""Seconds that a run waits at its end for traces to be sent. Chosen."""
_ENDPOINT = "http://localhost:4318"  # of OTLP over HTTP, where the environment names none
_NUMBERS = re.compile(r"OTEL_\w*(LIMIT|DELAY|TIMEOUT|SIZE|INTERVAL)")
_OTLP = {"grpc": "otlp_proto_grpc"}

_log = logging.getLogger(__name__)


@contextmanager
def open_export(*, must: bool) -> "Iterator[tuple[TracerProvider, MeterProvider] | None]":
    """Yield providers of traces and metrics, and send all at the end; yields `None` without the extra.

    Args:
        must: whether a missing extra is an error; else it is a line of warning.

    Raises:
        ModelUnavailable: the extra is missing.
        BadInput: there is no exporter of such a name.
    """
    try:
        from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - of an extra
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    except ImportError:
        line = "traces need the extra: pip install 'virl[otel]', or set VIRL_OTEL=0"
        if must:
            raise ModelUnavailable(line) from None
        _log.warning("%s", line)
        yield None
        return
    name = os.environ.get("OTEL_SERVICE_NAME", "virl")
    resource = Resource.create({"service.name": name, "service.version": version("virl")})
    _ignore_bad_numbers()
    watched = [_Watched(one) for one in _exporters("traces")]
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    for one in watched:
        tracers.add_span_processor(BatchSpanProcessor(cast("Any", one)))
    readers = [PeriodicExportingMetricReader(one) for one in _exporters("metrics")]
    meters = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    speak_again = _silence_sdk()
    try:
        yield tracers, meters
    finally:
        in_time = _end_within(CLOSING_S, tracers.shutdown, meters.shutdown)
        if in_time:  # else its threads go on trying for a while
            speak_again()
        if any(one.lost for one in watched) or not in_time:
            _log.warning(
                "traces could not be sent to %s: see docs/how-to/traces.md, or set VIRL_OTEL=0", _address()
            )


class _Watched:
    """An exporter of spans that records whether some were lost."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self.lost = False

    def export(self, spans: Any) -> Any:
        """Export spans, and note whether any were lost."""
        outcome = self._exporter.export(spans)
        self.lost = self.lost or outcome.name != "SUCCESS"
        return outcome

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether the exporter sent all that it held."""
        return bool(self._exporter.force_flush(timeout_millis))


def _ignore_bad_numbers() -> None:
    """Remove OpenTelemetry's numeric variables that are no numbers from the environment."""
    for name in [one for one in os.environ if _NUMBERS.fullmatch(one)]:
        try:
            float(os.environ[name] or 0)
        except ValueError:
            _log.warning("%s=%s is no number: it is ignored", name, os.environ.pop(name)[:40])


def _exporters(signal: str) -> list[Any]:
    """Return the exporters of `traces` or `metrics` that the environment names, separated by commas."""
    names = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").split(",")
    wanted = dict.fromkeys(one.strip() or "otlp" for one in names)
    return [_exporter(signal, one) for one in wanted if one.lower() != "none"]


def _exporter(signal: str, name: str) -> Any:
    """Return the exporter of a name for traces or metrics; refuses one that is not installed."""
    if name == "otlp":
        protocol = os.environ.get("OTEL_EXPORTER_OTLP_PROTOCOL", "")
        name = _OTLP.get(protocol, "otlp_proto_http")
    found = entry_points(group=f"opentelemetry_{signal}_exporter", name=name)
    if not found:
        package = name.replace("_", "-")
        raise BadInput(
            f"there is no exporter {name!r} for {signal}: pip install opentelemetry-exporter-{package}, or "
            f"set OTEL_{signal.upper()}_EXPORTER to otlp or console"
        )
    return next(iter(found)).load()()


def _end_within(seconds: float, *close: Callable[[], object]) -> bool:
    """Return whether all functions end within a number of seconds."""
    threads = [threading.Thread(target=one, daemon=True) for one in close]
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def _silence_sdk() -> Callable[[], None]:
    """Silence OpenTelemetry's log, and return a function that undoes it."""
    logger = logging.getLogger("opentelemetry")
    was, logger.propagate = logger.propagate, False
    handler = logging.NullHandler()
    logger.addHandler(handler)

    def speak_again() -> None:
        logger.propagate = was
        logger.removeHandler(handler)

    return speak_again


def _address() -> str:
    """Return the address that traces are sent to, for messages."""
    named = (os.environ.get(f"OTEL_EXPORTER_OTLP_{part}ENDPOINT") for part in ("TRACES_", ""))
    return shown_url(next(filter(None, named), _ENDPOINT))
