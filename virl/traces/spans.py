"""OpenTelemetry spans and metrics of runs, after the GenAI conventions; they cost nothing where they are off.

    with span("execute_tool look", {"gen_ai.tool.name": "look"}) as told:
        ...
        told.tell({"virl.moves": 3})

Spans go to the tracer provider of the program that virl runs in, if it has set one, and otherwise to the
exporters that OpenTelemetry's own environment variables name, by default OTLP over HTTP to this machine, port
4318. Names are those of https://github.com/open-telemetry/semantic-conventions-genai (2026-05), and `virl.*`
where it has none. `docs/how-to/traces.md` lists names and variables.
"""

import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import entry_points, version
from typing import TYPE_CHECKING, Any, Literal, cast

from virl.errors import BadInput, ModelUnavailable
from virl.redaction import shown_url

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import Span, TracerProvider


SWITCH, CONTENT_SWITCH = "VIRL_OTEL", "VIRL_OTEL_CONTENT"
STANDARD_SWITCHES = (
    "OTEL_TRACES_EXPORTER",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
)
"""Names of OpenTelemetry's environment variables that switch traces on, too, when they are set."""
STANDARD_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_YES, _NO = frozenset({"1", "true", "yes", "on"}), frozenset({"0", "false", "no", "off"})
_CONTENT_IN_SPANS = _YES | {"span_only", "span_and_event"}

# The boundaries that the conventions ask for.
_TOKEN_BOUNDS = [4.0**power for power in range(14)]
_SECOND_BOUNDS = [0.01 * 2**power for power in range(14)]

Value = str | bool | int | float | tuple[str, ...]
"""Value of a span's attribute: a text, truth value, number or tuple of texts."""
Attributes = Mapping[str, Value | None]
"""Attributes of a span by name; those with value `None` are left out."""


@dataclass(frozen=True, slots=True)
class Tracing:
    """OpenTelemetry's tracer, and its histograms of tokens and of seconds of requests to models."""

    tracer: Any
    tokens: Any
    seconds: Any


_OPENED: ContextVar[Tracing | None] = ContextVar("tracing", default=None)
_CONVERSATION: ContextVar[str] = ContextVar("conversation", default="")


class OpenSpan:
    """An open trace span; without tracing all its methods do nothing."""

    def __init__(self, span: "Span | None" = None) -> None:
        """Begin with a span of OpenTelemetry; `None` stands for no tracing."""
        self._span = span

    @property
    def is_on(self) -> bool:
        """Return whether this span is recorded."""
        return self._span is not None

    def tell(self, attributes: Attributes) -> None:
        """Add attributes to the span, those with value `None` left out."""
        if self._span is not None:
            self._span.set_attributes(_drop_missing(attributes))

    def fail(self, kind: str) -> None:
        """Mark the span as failed by a kind of error, such as the name of its class."""
        if self._span is not None:
            from opentelemetry.trace import StatusCode  # noqa: PLC0415 - of an extra

            self._span.set_attribute("error.type", kind)
            self._span.set_status(StatusCode.ERROR)


@contextmanager
def span(
    name: str, attributes: Attributes, *, kind: Literal["internal", "client"] = "internal"
) -> Iterator[OpenSpan]:
    """Open a trace span around the block, and yield it; an exception marks it as failed.

    Args:
        name: such as `execute_tool look`.
        attributes: that are known at its start.
        kind: `client` for a request that leaves the process.
    """
    tracing = _current_tracing()
    if tracing is None:
        yield OpenSpan()
        return
    from opentelemetry.trace import SpanKind  # noqa: PLC0415 - of an extra

    conversation = {"gen_ai.conversation.id": _CONVERSATION.get() or None}
    with tracing.tracer.start_as_current_span(
        name,
        kind=SpanKind.CLIENT if kind == "client" else SpanKind.INTERNAL,
        attributes=_drop_missing({**conversation, **attributes}),
        record_exception=False,
        set_status_on_exception=False,
    ) as opened:
        told = OpenSpan(opened)
        try:
            yield told
        except BaseException as fault:
            told.fail(type(fault).__name__)
            raise


@contextmanager
def conversation(name: str) -> Iterator[None]:
    """Mark all spans of the block with a conversation's id, such as that of a run."""
    token = _CONVERSATION.set(name)
    try:
        yield
    finally:
        with suppress(ValueError):  # closed in another context, as cells of a notebook are
            _CONVERSATION.reset(token)


def is_on() -> bool:
    """Return whether spans are recorded."""
    return _current_tracing() is not None


def measure(attributes: Attributes, seconds: float, tokens: Mapping[str, int]) -> None:
    """Add a request to a model to the metrics: its seconds, and its tokens by type.

    Args:
        attributes: the operation, the provider, the model, and `error.type` of one that failed.
        seconds: that it took.
        tokens: by type, `input` and `output`; empty where they are not known.
    """
    if tracing := _current_tracing():
        given = _drop_missing(attributes)
        tracing.seconds.record(seconds, given)
        for kind, count in tokens.items():
            tracing.tokens.record(count, {**given, "gen_ai.token.type": kind})


def content_wanted() -> bool:
    """Return whether spans may hold prompts, replies, and arguments and results of tools."""
    asked = os.environ.get(CONTENT_SWITCH, "").lower()
    return asked in _YES or (
        asked not in _NO and os.environ.get(STANDARD_CONTENT, "").lower() in _CONTENT_IN_SPANS
    )


@contextmanager
def export_traces() -> Iterator[None]:
    """Export the traces of the block to the collectors that the environment names.

    Does nothing where traces are off, where the program that virl runs in has a tracer provider, and within
    another such block. A collector that does not answer costs a few seconds at the end and a line of warning.

    Raises:
        ModelUnavailable: `VIRL_OTEL` asks for traces and the extra is missing.
        BadInput: the environment names an exporter that there is not.
    """
    if is_on() or not _is_wanted():
        yield
        return
    with open_export(must=_switched_on()) as providers:
        token = _OPENED.set(_tracing_by(*providers) if providers else None)
        try:
            yield
        finally:
            with suppress(ValueError):  # closed in another context
                _OPENED.reset(token)


def _current_tracing() -> Tracing | None:
    """Return the tracing that virl has opened, else that of the program around it; `None` without either."""
    if opened := _OPENED.get():
        return opened
    # A program that has set a provider has imported this module; else virl does without.
    api: Any = sys.modules.get("opentelemetry.trace")
    if api is None or os.environ.get(SWITCH, "").lower() in _NO:
        return None
    provider = api.get_tracer_provider()
    if isinstance(provider, api.ProxyTracerProvider):
        return None
    from opentelemetry.metrics import get_meter_provider  # noqa: PLC0415 - of an extra

    return _tracing_by(provider, get_meter_provider())


@lru_cache(maxsize=4)
def _tracing_by(tracers: "TracerProvider", meters: "MeterProvider") -> Tracing:
    """Return the tracer and histograms that providers of traces and of metrics make; cached."""
    meter = meters.get_meter("virl")
    return Tracing(
        tracers.get_tracer("virl"),
        meter.create_histogram(
            "gen_ai.client.token.usage",
            unit="{token}",
            description="Tokens of a request",
            explicit_bucket_boundaries_advisory=_TOKEN_BOUNDS,
        ),
        meter.create_histogram(
            "gen_ai.client.operation.duration",
            unit="s",
            description="Duration of a request",
            explicit_bucket_boundaries_advisory=_SECOND_BOUNDS,
        ),
    )


def _is_wanted() -> bool:
    """Return whether the environment asks for traces and does not switch them off."""
    if os.environ.get(SWITCH, "").lower() in _NO or os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    if os.environ.get("OTEL_TRACES_EXPORTER", "").lower() == "none":
        return False
    return _switched_on() or any(map(os.environ.get, STANDARD_SWITCHES))


def _switched_on() -> bool:
    """Return whether `VIRL_OTEL` asks for traces."""
    return os.environ.get(SWITCH, "").lower() in _YES


def _drop_missing(attributes: Attributes) -> dict[str, Value]:
    """Return the attributes, by name, whose value is not `None`."""
    return {name: value for name, value in attributes.items() if value is not None}


CLOSING_S = 5.0
"""Most seconds that a run waits at its end for traces to be exported. Chosen."""
_ENDPOINT = "http://localhost:4318"  # of OTLP over HTTP, where the environment names none
_NUMBERS = re.compile(r"OTEL_\w*(LIMIT|DELAY|TIMEOUT|SIZE|INTERVAL)")
_OTLP = {"grpc": "otlp_proto_grpc"}

_log = logging.getLogger(__name__)


@contextmanager
def open_export(*, must: bool) -> "Iterator[tuple[TracerProvider, MeterProvider] | None]":
    """Yield (trace provider, metric provider), flushed at the end; `None` without extra, or raise if `must`.

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
    for variable in [one for one in os.environ if _NUMBERS.fullmatch(one)]:
        try:
            float(os.environ[variable] or 0)
        except ValueError:
            _log.warning("%s=%s is no number: it is ignored", variable, os.environ.pop(variable)[:40])
    watched = [_WatchedExporter(one) for one in _exporters("traces")]
    tracers = TracerProvider(resource=resource, shutdown_on_exit=False)
    for one in watched:
        tracers.add_span_processor(BatchSpanProcessor(cast("Any", one)))
    readers = [PeriodicExportingMetricReader(one) for one in _exporters("metrics")]
    meters = MeterProvider(readers, resource=resource, shutdown_on_exit=False)
    restore = _silence_sdk()
    try:
        yield tracers, meters
    finally:
        in_time = _end_within(CLOSING_S, tracers.shutdown, meters.shutdown)
        if in_time:  # else its threads go on trying for a while
            restore()
        if any(one.lost for one in watched) or not in_time:
            named = (os.environ.get(f"OTEL_EXPORTER_OTLP_{part}ENDPOINT") for part in ("TRACES_", ""))
            _log.warning(
                "traces could not be sent to %s: see docs/how-to/traces.md, or set VIRL_OTEL=0",
                shown_url(next(filter(None, named), _ENDPOINT)),
            )


class _WatchedExporter:
    """A wrapper of OpenTelemetry's exporter of spans that records whether some were lost."""

    def __init__(self, exporter: Any) -> None:
        """Begin to watch an exporter."""
        self._exporter = exporter
        self.lost = False
        """True once spans could not be exported."""

    def export(self, spans: Any) -> Any:
        """Export spans, and return OpenTelemetry's outcome."""
        outcome = self._exporter.export(spans)
        self.lost = self.lost or outcome.name != "SUCCESS"
        return outcome

    def shutdown(self) -> None:
        """Shut the exporter down."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether the exporter sent all that it held within so many milliseconds."""
        return bool(self._exporter.force_flush(timeout_millis))


def _exporters(signal: str) -> list[Any]:
    """Return the exporters that the environment names for a signal, `traces` or `metrics`."""
    names = os.environ.get(f"OTEL_{signal.upper()}_EXPORTER", "").split(",")
    wanted = dict.fromkeys(one.strip() or "otlp" for one in names)
    return [_exporter(signal, one) for one in wanted if one.lower() != "none"]


def _exporter(signal: str, name: str) -> Any:
    """Return an exporter by name for a signal, `traces` or `metrics`; raise `BadInput` if there is none."""
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
    """Return whether functions, called in threads of their own, all end within so many seconds."""
    threads = [threading.Thread(target=one, daemon=True) for one in close]
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


def _silence_sdk() -> Callable[[], None]:
    """Silence OpenTelemetry's log, and return a function that lets it speak again."""
    logger = logging.getLogger("opentelemetry")
    was, logger.propagate = logger.propagate, False
    handler = logging.NullHandler()
    logger.addHandler(handler)

    def restore() -> None:
        """Let OpenTelemetry log again as before."""
        logger.propagate = was
        logger.removeHandler(handler)

    return restore
