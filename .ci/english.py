"""Check the English of the code: first lines of docstrings, and names of functions.

`english.toml` has the words: verbs that functions begin with, openers that no first line has, nouns that look
like verbs, and names that no function has.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = {name: set(words) for name, words in tomllib.loads((ROOT / ".ci/english.toml").read_text()).items()}
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def third_person(verb: str) -> str:
    """Return the third person of a verb, such as "Carries"."""
    if re.search("[^aeo]y$", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search("(s|x|ch|sh|o)$", verb) else f"{verb}s"


NO_NOUNS = WORDS["openers"] | set(map(third_person, WORDS["verbs"])) - WORDS["nouns"]


def fault_of(node: ast.AST, doc: str) -> str:
    """Return what is wrong with the docstring of a function, class, field or constant; or nothing."""
    first, word = doc.partition("\n")[0], re.split(r"[^\w-]", doc)[0]
    marks = " ".join(map(ast.unparse, getattr(node, "decorator_list", ())))
    if doc and getattr(getattr(node, "returns", None), "id", "") == "bool":
        return "" if first.startswith("Return whether ") else f"does not begin with 'Return whether': {first}"
    if not isinstance(node, FUNCTIONS) or "property" in marks:
        return f"begins with no noun phrase: {first}" if word in NO_NOUNS else ""
    if doc and word not in WORDS["verbs"]:
        return f"begins with no verb of .ci/english.toml: {first}"
    return ""


def faults(source: str) -> Iterator[str]:
    """Yield the lines of a module that are no plain English, and what is wrong there."""
    for node in ast.walk(ast.parse(source)):
        found = [(node, ast.get_docstring(node) or "")] if isinstance(node, FUNCTIONS | ast.ClassDef) else []
        body = getattr(node, "body", None)
        for field, text in pairwise(body if isinstance(body, list) else ()):
            if isinstance(field, ast.Assign | ast.AnnAssign) and isinstance(text, ast.Expr):
                found.append((field, str(getattr(text.value, "value", ""))))
        if isinstance(node, FUNCTIONS) and node.name.strip("_") in WORDS["banned"]:
            yield f"{node.lineno}: {node.name} is no verb and no noun of the field"
        yield from (f"{one.lineno}: {fault}" for one, doc in found if (fault := fault_of(one, doc)))


def main() -> list[str]:
    """Return what is wrong in virl, agents and benchmarks."""
    files = [
        file for name in ("virl", "agents", "benchmarks") for file in sorted((ROOT / name).rglob("*.py"))
    ]
    return [
        f"{file.relative_to(ROOT)}:{fault}" for file in files for fault in faults(file.read_text("utf-8"))
    ]


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
