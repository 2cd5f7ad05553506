"""How long does scoring 800 walks take? TC, SPD and both KPA together; nDTW, SDTW and CLS together.

    python -m benchmarks.perf.scoring [--data DIR] [--rounds 5] [--json]

The walks are the episodes of Touchdown's unseen development set: each gold path, cut at a random place and
scored against the whole. The graph is loaded and the search compiled before the clock starts.
"""

import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from virl.bench.metrics.paths import Walk, score_paths, score_walks
from virl.platform.city.graph import NavigationGraph
from virl.platform.providers.graph.city import find_data
from virl.platform.providers.graph.touchdown import load_touchdown, read_episodes

from .figures import best_seconds, command, figures


def main() -> None:
    """Measure and print the seconds that scoring all walks takes."""
    parser = command(__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    chosen = parser.parse_args()
    folder = find_data("touchdown", chosen.data)
    graph = load_touchdown(folder / "graph")
    walks = _cut_walks(graph, folder / "touchdown_unseen" / "dev.jsonl")
    scorers: dict[str, Callable[..., object]] = {
        "TC, SPD, KPA": score_walks,
        "nDTW, SDTW, CLS": score_paths,
    }
    with figures(chosen) as found:
        found["walks"], found["seconds"] = len(walks), {}
        for title, score in scorers.items():
            seconds = found["seconds"][title] = best_seconds(
                partial(score, graph, walks), chosen.rounds, time.perf_counter
            )
            found.show(f"{title}: {len(walks)} walks in {seconds:.3f} s")


def _cut_walks(graph: NavigationGraph, file: Path) -> Sequence[Walk]:
    """Return (walk cut at a random place, whole gold path) of each episode in a file."""
    draw = random.Random(0)
    gold = [[graph.number(node) for node in episode.path] for episode in read_episodes(file)]
    return [(path[: draw.randint(1, len(path))], path) for path in gold]


if __name__ == "__main__":
    main()
