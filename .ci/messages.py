"""Print every message that users read: errors, helps and lines of progress, by file and line."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
COMMANDS = ("command(", "add_guard(")
PROGRESS = {"counting_bar", "echo", "print", "progress", "say", "told_if_long"}
Texts = Mapping[str, Sequence[ast.AST]]


def rendered(node: ast.AST) -> str:
    """Return a text with placeholders such as {name}; of another expression, the placeholder."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr | ast.BinOp):
        return "".join(map(rendered, getattr(node, "values", ()) or (node.left, node.right)))
    return f"{{{ast.unparse(node.value if isinstance(node, ast.FormattedValue) else node)}}}"


def texts(node: ast.AST, named: Texts, seen: set[str]) -> Iterator[tuple[int, str]]:
    """Yield the texts in an expression, and those of the module's names and functions in it."""
    inner = list(ast.iter_child_nodes(node))
    if isinstance(node, ast.Constant | ast.JoinedStr | ast.BinOp):
        text = " ".join(rendered(node).split())
        if " " in re.sub(r"\{[^}]*\}", "", text).strip():
            yield node.lineno, text
            inner = [one for one in ast.walk(node) if isinstance(one, ast.FormattedValue)]
    elif isinstance(node, ast.Name | ast.Attribute):
        name = ast.unparse(node).removeprefix("self.")
        inner += () if name in seen else named.get(name, ())
        seen.add(name)
    for one in inner:
        yield from texts(one, named, seen)


def named_texts(nodes: Sequence[ast.AST]) -> Texts:
    """Return the values that a module gives its names, and those that its functions return."""
    named = defaultdict(list)
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            named[node.name] += [one.value for one in ast.walk(node) if isinstance(one, ast.Return)]
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in getattr(node, "targets", ()) or [node.target]:
                named[ast.unparse(target)].append(node.value)
    return {name: [value for value in values if value] for name, values in named.items()}


def error_classes(nodes: Sequence[ast.AST]) -> set[str]:
    """Return the names of VirlError, of all classes that derive from it, and of classes of faults."""
    classes = {one.name: set(map(ast.unparse, one.bases)) for one in nodes if isinstance(one, ast.ClassDef)}
    names = {"VirlError", *(name for name in classes if name.endswith("Fault"))}
    while more := {name for name, bases in classes.items() if bases & names} - names:
        names |= more
    return names


def messages(nodes: Sequence[ast.AST], classes: set[str]) -> Iterator[tuple[int, str, str]]:
    """Yield line, kind and text of each message of a module, with placeholders."""
    named = named_texts(nodes)
    for node in nodes:
        called = getattr(getattr(node, "func", None), "id", getattr(getattr(node, "func", None), "attr", ""))
        found = [("help", one.value) for one in getattr(node, "keywords", ()) if one.arg == "help"]
        found += [("error", node)] if isinstance(node, ast.Raise) or called in classes else []
        found += [("progress", one) for one in node.args] if called in PROGRESS else []
        if any(mark in ast.unparse(one) for one in getattr(node, "decorator_list", ()) for mark in COMMANDS):
            found.append(("help", node.body[0].value))
        yield from ((line, kind, text) for kind, one in found for line, text in texts(one, named, set()))


if __name__ == "__main__":
    files = sorted(file for name in ("virl", "agents", "benchmarks") for file in (ROOT / name).rglob("*.py"))
    modules = {file: list(ast.walk(ast.parse(file.read_text("utf-8")))) for file in files}
    errors = error_classes([node for nodes in modules.values() for node in nodes])
    for file, nodes in modules.items():
        for line, kind, text in sorted(set(messages(nodes, errors))):
            print(f"{file.relative_to(ROOT)}:{line}: {kind}: {text}")
