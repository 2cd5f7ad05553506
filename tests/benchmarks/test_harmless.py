"""What is read from files and models is never run."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
MODULES = {"pickle", "cPickle", "dill", "marshal", "shelve", "joblib", "cloudpickle"}
CALLS = {"eval", "exec", "literal_eval"}


def faults(source: str) -> Iterator[str]:
    if not any(word in source for word in (*MODULES, *CALLS, "allow_pickle")):
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            named = [alias.name for alias in node.names] + [getattr(node, "module", None) or ""]
            yield from (name for name in named if name.split(".")[0] in MODULES)
        if isinstance(node, ast.Call):
            called = node.func.id if isinstance(node.func, ast.Name) else ""
            if called in CALLS:
                yield called
            yield from (
                "allow_pickle"
                for keyword in node.keywords
                if keyword.arg == "allow_pickle" and getattr(keyword.value, "value", True) is not False
            )


@pytest.mark.parametrize("folder", ["virl", "agents", "benchmarks"])
def test_nothing_is_unpickled_and_no_text_is_evaluated(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): told
        for path in (ROOT / folder).rglob("*.py")
        if (told := list(faults(path.read_text(encoding="utf-8"))))
    }
    assert not found


@pytest.mark.parametrize(
    "code", ["import pickle", "from pickle import load", "eval('1')", "np.load(f, allow_pickle=True)"]
)
def test_it_would_be_noticed(code: str) -> None:
    assert list(faults(code))
