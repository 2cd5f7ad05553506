"""Check that docstrings of public functions have the `Args:` and `Raises:` that a caller needs.

A method of a protocol has them there, and not where it is implemented; commands and tools have a help for
each parameter instead.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef
HELPED = ("add_guard", "overload", "tool")
MANY = 3  # parameters, from which on `Args:` says what they are


def does_raise(node: ast.AST) -> bool:
    """Return whether a function raises something itself, and not only in a function within it."""
    inner = [one for one in ast.iter_child_nodes(node) if not isinstance(one, FUNCTIONS | ast.ClassDef)]
    return any((isinstance(one, ast.Raise) and one.exc) or does_raise(one) for one in inner)


def lacking(node: ast.AST) -> Iterator[str]:
    """Yield the sections that the docstring of a function lacks, if it is a public one."""
    if not isinstance(node, FUNCTIONS) or node.name.startswith("_"):
        return
    if any(name in ast.unparse(one) for one in node.decorator_list for name in HELPED):
        return
    doc, names = ast.get_docstring(node) or "", {one.arg for one in (*node.args.args, *node.args.kwonlyargs)}
    if len(names - {"self", "cls"}) >= MANY and "\nArgs:" not in doc:
        yield f"{node.lineno}: {node.name} has no `Args:`"
    if does_raise(node) and "\nRaises:" not in doc:
        yield f"{node.lineno}: {node.name} has no `Raises:`"


def main() -> list[str]:
    """Return what is lacking in virl, agents and benchmarks."""
    files = [
        file for name in ("virl", "agents", "benchmarks") for file in sorted((ROOT / name).rglob("*.py"))
    ]
    bodies = [(file.relative_to(ROOT), ast.parse(file.read_text(encoding="utf-8")).body) for file in files]
    classes = [node for _, body in bodies for node in body if isinstance(node, ast.ClassDef)]
    protocols = [node for node in classes if any("Protocol" in ast.unparse(base) for base in node.bases)]
    declared = {one.name for node in protocols for one in node.body if isinstance(one, FUNCTIONS)}
    found = []
    for file, body in bodies:
        for node in body:
            inner = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else []
            own = [one for one in inner if node in protocols or getattr(one, "name", "") not in declared]
            found += [f"{file}:{fault}" for one in (node, *own) for fault in lacking(one)]
    return found


if __name__ == "__main__":
    sys.exit("\n".join(main()) or 0)
