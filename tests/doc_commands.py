"""The commands of a page of the documentation, and what a test does instead of running some as they are."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
DOCS = ROOT / "docs"
BLOCK = re.compile(r"^( *)```sh\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Instead:
    """What is done instead of running a line."""

    why: str
    command: str = "{}"
    """`{}` stands for the line without its comment."""
    refusal: str = ""
    """What the one line says that the command ends with; empty if it succeeds."""

    def of(self, line: str) -> str:
        """The command that is run."""
        return self.command.replace("{root}", str(ROOT)).replace("{}", line)


def commands(page: Path) -> list[str]:
    """Lines of all blocks, in order, without comments; what is continued on a further line is one.

    A block that holds a script, with a text for a program's input or a function, is one command.
    """
    found: list[str] = []
    for indent, block in BLOCK.findall(page.read_text(encoding="utf-8")):
        text = textwrap.dedent(indent + block)
        lines = [text.strip()] if "<<" in text else text.replace("\\\n", " ").splitlines()
        found += [bare for line in lines if (bare := without_comment(line))]
    return found


def without_comment(line: str) -> str:
    """A line up to its comment, its words one blank apart."""
    return line if "\n" in line else " ".join(re.sub(r"(^|\s)#.*", "", line).split())
