"""The commands of a page of the documentation, and what a test does instead of running some as they are."""

import re
import shlex
import signal
import subprocess
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import httpx

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


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    error: str


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


def expanded(word: str) -> list[str]:
    """The paths that a pattern stands for, or the word itself."""
    return sorted(map(str, Path().glob(word))) if "*" in word else [word]


def serving(command: str, environment: Mapping[str, str] | None = None, folder: Path | None = None) -> Done:
    """Start a server, see that it answers, and stop it; or what it says if it does not start."""
    words = [path for word in shlex.split(command) for path in expanded(word)]
    server = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = server.stdout.readline() if server.stdout else ""
        if url := re.search(r"http://\S+", said):
            assert httpx.get(url[0]).status_code < 500
    finally:
        server.send_signal(signal.SIGINT)
        out, error = server.communicate(timeout=60)
    return Done(0 if url else server.returncode, said + out, error)
