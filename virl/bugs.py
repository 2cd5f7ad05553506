"""Bugs in code that virl runs, such as a user's routine, as errors of one line that names file and line."""

import errno
import os
import re
import sysconfig
from pathlib import Path
from traceback import FrameSummary, extract_tb

from virl.errors import CannotWrite, CodeFault, ModelUnavailable, VirlError
from virl.extras import extra_of

LONGEST = 300
"""Most characters of an exception's text that are shown; chosen."""

_REFUSALS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG})
_USED_UP = "insufficient memory"  # as OpenCV words it
_SECRET_VARIABLE = re.compile(r"(?:_KEY|_TOKEN|_SECRET)$")
_SHORTEST_SECRET = 6  # a shorter value would blot out ordinary words
_INSTALLED = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
_NOT_THEIRS = tuple(str(Path(path).resolve()) for path in (__file__.rpartition(os.sep)[0], *_INSTALLED))


def bug_of(fault: BaseException, *, home: Path | None = None, run: Path | None = None) -> VirlError:
    """Return an exception as a one-line error: the line under `home` that raised it, how to resume `run`.

    A disk that refuses is no bug, but a `CannotWrite`; a package of an extra that is not installed, a
    `ModelUnavailable`; memory that is used up, a plain `VirlError`.

    Args:
        fault: the exception, with its traceback.
        home: the folder of the code that was called; `None` for any code but virl's and installed packages'.
        run: the folder of the run that it ended, which `--resume` continues; `None` for no run.
    """
    again = "run again" if run is None else "continue with --resume"
    if isinstance(fault, OSError) and fault.errno in _REFUSALS:
        return CannotWrite(
            f"cannot write {fault.filename or 'a file'}: {fault.strerror}: fix that, then {again}"
        )
    if isinstance(fault, ModuleNotFoundError) and (extra := extra_of(fault.name or "")):
        return ModelUnavailable(
            f"this needs {fault.name}, which is not installed: pip install 'virl[{extra}]'"
        )
    if isinstance(fault, MemoryError) or _USED_UP in str(fault).lower():
        return VirlError(f"out of memory: close other programs, then {again}")
    reason = without_secrets(f"{type(fault).__name__}: {fault}")
    reason = " ".join(reason.split())[:LONGEST].removesuffix(": ")
    frame = _frame(fault, home)
    where = f"{frame.filename}, line {frame.lineno}, in {frame.name}: " if frame else ""
    advice = f"run folder: {run}; fix the code, then continue with --resume; " if run else ""
    return CodeFault(f"{where}{reason} ({advice}--debug shows the traceback)")


def without_secrets(text: str) -> str:
    """Return a text with the values of the environment's keys, tokens and secrets replaced by "***"."""
    for name, value in os.environ.items():
        if _SECRET_VARIABLE.search(name) and len(value) >= _SHORTEST_SECRET:
            text = text.replace(value, "***")
    return text


def _frame(fault: BaseException, home: Path | None) -> FrameSummary | None:
    """Return the innermost call in code under `home`, else in a user's own code, else in any, or `None`."""
    frames = extract_tb(fault.__traceback__)
    own = [
        frame for frame in frames if home and Path(frame.filename).resolve().is_relative_to(home.resolve())
    ]
    theirs = [
        frame
        for frame in frames
        if not (frame.filename.startswith("<") or str(Path(frame.filename).resolve()).startswith(_NOT_THEIRS))
    ]
    return next((frame for group in (own, theirs, frames) for frame in reversed(group)), None)
