"""`make fuzz`: many inputs of every kind, and a table of what became of them.

PYTHONPATH=tests python -m fuzz --inputs 20000 --seed 7
PYTHONPATH=tests python -m fuzz --again build/fuzz/book/0123456789abcdef
"""

import argparse
import logging
import resource
import sys
import time
import warnings
from pathlib import Path

from fuzz.everything import all_kinds, shares
from fuzz.session import Tally, again, fuzz

FAILURES = Path("build/fuzz")


def main() -> int:
    """Run a session, or repeat inputs; 1 if a reader failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description="Read inputs of every shape.")
    parser.add_argument("--inputs", type=int, default=20_000, help="how many, over all kinds")
    parser.add_argument("--seed", type=int, default=None, help="of chance; by default the time")
    parser.add_argument("--kind", default="", help="only kinds whose name begins so")
    parser.add_argument("--failures", type=Path, default=FAILURES, help="where inputs are kept that fail")
    parser.add_argument("--again", type=Path, nargs="+", metavar="FILE", help="read kept inputs once more")
    options = parser.parse_args()
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    if options.again:
        return _again(options.again)
    seed = int(time.time()) if options.seed is None else options.seed
    print(f"fuzz: {options.inputs} inputs, seed {seed}", flush=True)
    tallies: dict[str, Tally] = {}
    start = time.perf_counter()
    with all_kinds(options.kind) as kinds:
        for kind, count in shares(kinds, options.inputs):
            tallies[kind.name] = tally = fuzz(kind, count, seed, options.failures, _tell)
            _tell(f"{_line(kind.name, [tally])}, {tally.seconds:.1f} s in all")
    _sum_up(tallies, time.perf_counter() - start)
    failed = [file for tally in tallies.values() for file in tally.failures]
    if failed:
        print(f"repeat them with: PYTHONPATH=tests python -m fuzz --again {' '.join(map(str, failed[:5]))}")
        print(f"with the same inputs: make fuzz INPUTS={options.inputs} SEED={seed}")
    return 1 if failed else 0


def _again(files: list[Path]) -> int:
    failed = 0
    with all_kinds() as kinds:
        by_name = {kind.name: kind for kind in kinds}
        for file in files:
            for path, fault in again(by_name[file.parent.name], [file]):
                failed += bool(fault)
                print(f"{path}: {fault or 'is read, or refused in one line'}")
    return 1 if failed else 0


def _sum_up(tallies: dict[str, Tally], seconds: float) -> None:
    groups: dict[str, list[Tally]] = {}
    for name, tally in tallies.items():
        groups.setdefault(name.split("-")[0], []).append(tally)
    print()
    for group, own in [*groups.items(), ("all", list(tallies.values()))]:
        print(_line(group, own))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{seconds:.0f} s, at most {peak:.0f} MB of memory")


def _line(name: str, tallies: list[Tally]) -> str:
    inputs, refused = sum(one.inputs for one in tallies), sum(one.refused for one in tallies)
    failed, slowest = sum(len(one.failures) for one in tallies), max(one.slowest for one in tallies)
    return f"{name:38}{inputs:7} inputs{refused:7} refused{failed:4} failed, slowest {slowest:.2f} s"


def _tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
