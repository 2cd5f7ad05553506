"""The paid part of `virl doctor --real`: prices, a question to the model, and a file for bug reports."""

import json
import platform
from pathlib import Path
from typing import Any

from virl.bugs import without_secrets
from virl.doctor.findings import Finding
from virl.doctor.probes import probes
from virl.errors import VirlError
from virl.files.writing import write_whole
from virl.mind.base import Prompt
from virl.mind.open import open_mind
from virl.mind.providers import Usage, request_usd
from virl.mind.replies import Reply
from virl.mind.script import PREFIX
from virl.mind.settings import MindSettings, prices_in, split_spec
from virl.money.ledger import Ledger
from virl.pages.numbers import dollars
from virl.platform.providers.google.settings import GoogleSettings
from virl.redaction import Redaction

_READ_TOKENS, _WRITTEN_TOKENS = 400, 1_024  # chosen: the question, and a reply of a model that reasons
_SHORT = MindSettings(max_tokens=_WRITTEN_TOKENS)


class _Answer(Reply):
    ok: bool


_QUESTION = Prompt("doctor/answer", frozenset(), _Answer, "Reply with the field `ok` set to true.")


def price_lines(
    settings: GoogleSettings, mind: str, budget_usd: float, *, has_google_key: bool
) -> tuple[str, ...]:
    """Return what would be asked, a line each with its price, and the sum; empty where nothing is configured.

    Args:
        settings: endpoints and prices of Google.
        mind: as in `--mind`.
        budget_usd: dollars, told beside the sum.
        has_google_key: whether Google would be asked.
    """
    paid = [probe for probe in probes(settings) if probe.way == "paid"] if has_google_key else []
    priced = [
        (f"{settings.endpoint(one.endpoint).service} for {one.asks}", one.usd(settings)) for one in paid
    ]
    lines = [f"will ask {what}: ${usd:.3f}" for what, usd in priced]
    total = sum(usd for _, usd in priced)
    if _is_model(mind):
        usd = _model_usd(mind)
        total += usd or 0.0
        told = "not asked, its price is unknown (add ?price=IN,OUT)" if usd is None else f"at most ${usd:.3f}"
        lines.append(f"will ask {split_spec(mind)[0]} for one short reply: {told}")
    return (*lines, f"in all ${total:.3f}; the budget is ${budget_usd:.3f} (--budget-usd)") if lines else ()


def ask_model(spec: str, budget_usd: float) -> Finding | None:
    """Ask a language model one question, and say whether the reply has the shape that virl reads.

    Args:
        spec: as in `--mind`; a mind that is no language model is not asked.
        budget_usd: most dollars for the question.
    """
    if not _is_model(spec):
        return None
    from virl.mind.llm import LLMMind  # noqa: PLC0415  LangChain takes a second to import

    name, needed_for, ledger = f"reply of {spec}", f"--mind {spec}", Ledger(max(0.0, budget_usd))
    try:
        mind = open_mind(spec, cache_dir=None, ledger=ledger, settings=_SHORT)
        (mind.without_retries() if isinstance(mind, LLMMind) else mind).ask(_QUESTION)
    except VirlError as fault:
        paid = f"no reply of use ({dollars(ledger.spent_usd)})"
        return Finding(name, "missing", paid, needed_for, str(fault), spec)
    paid = f"one reply, in the shape that virl reads ({dollars(ledger.spent_usd)})"
    return Finding(name, "ok", paid, needed_for, mind=spec)


def write_bundle(path: Path, report: str, recorded: Path) -> None:
    """Write what a bug report needs: findings and shapes of replies, without content and secrets.

    Args:
        path: the file, which is replaced.
        report: the findings as JSON.
        recorded: folder of the replies, as `Recording` writes them; only names and types of fields are taken.

    Raises:
        CannotWrite: the file cannot be written.
    """
    bundle = {
        "python": platform.python_version(),
        "system": platform.platform(),
        "findings": json.loads(report),
        "replies": [_describe_reply(body) for body in sorted(recorded.rglob("*.body"))],
    }
    text = json.dumps(_strip_secrets(bundle, Redaction.of()), indent=1, ensure_ascii=False)
    write_whole(path, f"{text}\n".encode(), "run virl doctor --real again")


def shape_of(value: object) -> Any:
    """Return plain data with the type of each value in its place; a list shows each shape in it once."""
    if isinstance(value, dict):
        return {name: shape_of(one) for name, one in value.items()}
    if isinstance(value, list):
        shapes: list[object] = []
        for one in map(shape_of, value):
            if one not in shapes:
                shapes.append(one)
        return shapes
    return type(value).__name__


def _describe_reply(body: Path) -> dict[str, object]:
    """Return the endpoint and the shape of a reply; of a picture, the number of its bytes."""
    data = body.read_bytes()
    status = json.loads(body.with_suffix(".json").read_bytes())["status"]
    try:
        shape = shape_of(json.loads(data))
    except ValueError:
        shape = f"{len(data)} bytes"
    return {"endpoint": body.parent.name, "status": status, "shape": shape}


def _strip_secrets(value: Any, redaction: Redaction) -> Any:
    """Return plain data without secrets and without the name of the user's home folder."""
    if isinstance(value, dict):
        return {name: _strip_secrets(one, redaction) for name, one in value.items()}
    if isinstance(value, list):
        return [_strip_secrets(one, redaction) for one in value]
    if isinstance(value, str):
        return without_secrets(redaction.text(value)).replace(str(Path.home()), "~")
    return value


def _is_model(spec: str) -> bool:
    """Return whether a mind is a model, neither rules nor a script."""
    return spec != "rules" and not spec.startswith(PREFIX)


def _model_usd(spec: str) -> float | None:
    """Return the dollars of the question at most; `None` where the price is not known."""
    name, own = split_spec(spec)
    if name.startswith("ollama:") and own.price is None:
        return 0.0
    usage = Usage(
        input_tokens=_READ_TOKENS, output_tokens=own.with_fallback(_SHORT).max_tokens or _WRITTEN_TOKENS
    )
    return request_usd(name, usage, prices_in(own.price) if own.price else None)
