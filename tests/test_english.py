"""The English of the code is checked: first lines of docstrings, their sections, and names of functions."""

import runpy
from pathlib import Path

import pytest

CI = Path(__file__).parent.parent / ".ci"
ENGLISH = runpy.run_path(str(CI / "english.py"))
SECTIONS = runpy.run_path(str(CI / "sections.py"))
MESSAGES = runpy.run_path(str(CI / "messages.py"))


def test_the_words_are_sorted_and_few_nouns_look_like_verbs() -> None:
    words = ENGLISH["tomllib"].loads((CI / "english.toml").read_text())
    assert {name: sorted(set(ones)) for name, ones in words.items()} == words
    assert len(words["nouns"]) <= 20


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ('def ask():\n    """Ask a mind."""', ""),
        ('def ask():\n    """A mind."""', "begins with no verb of .ci/english.toml: A mind."),
        ('def ask() -> bool:\n    """Return true."""', "does not begin with 'Return whether': Return true."),
        ('def _above():\n    pass', "_above is no verb and no noun of the field"),
        ('class Mind:\n    """Carries a mind."""', "begins with no noun phrase: Carries a mind."),
        ('MIND = 1\n"""Of a mind."""', "begins with no noun phrase: Of a mind."),
        ('class A:\n @property\n def b(self):\n  """Asks."""', "begins with no noun phrase: Asks."),
        ('class A:\n def f(self):\n  self.a = 1\n  """How."""', "begins with no noun phrase: How."),
        ('NAMES = ()\n"""Names of minds."""', ""),
    ],
)  # fmt: skip
def test_what_is_not_plain_is_found(code: str, fault: str) -> None:
    found = [one.partition(": ")[2] for one in ENGLISH["faults"](code)]
    assert found == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("code", "lacks"),
    [
        ('def ask(a, b, c):\n """Ask."""', ["1: ask has no `Args:`"]),
        ('def ask(a, b):\n """Ask."""\n raise ValueError', ["1: ask has no `Raises:`"]),
        ('def ask(a):\n """Ask."""\n def inner():\n  raise ValueError', []),
        ('def _ask(a, b, c):\n """Ask."""\n raise ValueError', []),
        ('@tool("Ask")\ndef ask(a, b, c):\n """Ask."""', []),
    ],
)
def test_lacking_sections_are_found(code: str, lacks: list[str]) -> None:
    assert list(SECTIONS["lacking"](SECTIONS["ast"].parse(code).body[0])) == lacks


def test_messages_are_listed() -> None:
    root = CI.parent
    modules = {
        file: list(MESSAGES["ast"].walk(MESSAGES["ast"].parse((root / "virl" / file).read_text("utf-8"))))
        for file in ("errors.py", "agent/control.py", "agent/assembly.py", "cli/doctor.py", "mind/rules.py")
    }
    errors = MESSAGES["error_classes"]([node for nodes in modules.values() for node in nodes])
    found = {
        (file, kind, text)
        for file, nodes in modules.items()
        for _, kind, text in MESSAGES["messages"](nodes, errors)
    }
    assert found >= {
        ("agent/control.py", "error", "the text is empty: write what you want to say"),
        ("agent/assembly.py", "progress", "Mover: {fit.name}, as {fit.reason} (see --mover)"),
        ("cli/doctor.py", "help", "With --empty: do not ask."),
        ("cli/doctor.py", "help", "Show how much virl has kept on this machine, by kind, and empty it."),
        ("mind/rules.py", "error", "no rule answers prompt {prompt.name}: choose a model with --mind"),
    }
