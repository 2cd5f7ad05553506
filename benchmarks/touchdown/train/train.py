"""Puts a training together from what the command line names, runs it, and writes its results."""

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from virl.bench.records import SETTINGS, versions, write_results
from virl.errors import BadInput, NoStreetView
from virl.files.writing import refusals_in_a_line, write_whole
from virl.journal.folder import lock_run
from virl.platform.navigators.velma.prompt import read_landmarks
from virl.platform.navigators.velma.verbalizer import Observer
from virl.platform.navigators.velma.vision import EmbeddingScorer, read_features, read_statistics, yaw_flow

from ..dataset import Data, Selection, landmarks_file, open_data
from .checkpoint import Progress, latest_checkpoint, load_state
from .hyperparameters import Hyperparameters, Method
from .learner import Learner
from .loop import BEST, CHECKPOINTS, CURVES, Training, draw, steps_per_epoch
from .metrics import read_metrics
from .model import add_adapter, choose_device, choose_precision, load_adapter, load_encoder, load_model
from .samples import Lessons
from .walking import TrainingRoute, Walks


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a training, as the command line gives them."""

    method: Method
    model: Path
    """Folder of a causal language model, as transformers saves it."""
    train: Selection
    dev: Selection
    out: Path
    resume: bool = False
    device: str = "auto"
    features: Path | None = None
    """File of embeddings of views and captions; `None` trains without landmarks."""
    statistics: Path | None = None
    """File of score statistics over the training area; needed with `features`."""


def train(options: Options, hyperparameters: Hyperparameters, console: Console) -> None:
    """Fine-tune a model, or resume a training, and write `results.json`.

    Args:
        options: data, model and folder.
        hyperparameters: of the training.
        console: where progress is told.

    Raises:
        VirlError: data, model, adapters or folder cannot be used; the message says what to do.
    """
    device = choose_device(options.device)
    encoder = load_encoder(options.model)
    read = {"train": open_data(options.train), "dev": open_data(options.dev)}
    walks = _walks(options, read, hyperparameters)
    lessons = Lessons(walks, encoder, hyperparameters.cutoff, hyperparameters.rollout_cutoff)
    routes, skipped = {}, {}
    for split, data in read.items():
        routes[split], skipped[split] = _routes(lessons, data)
        _tell_skipped(split, skipped[split], console)
    with refusals_in_a_line(options.out, "choose another --out"):
        options.out.mkdir(parents=True, exist_ok=True)
    with closing(lock_run(options.out)):
        settings = _settings(options, hyperparameters, read["train"].source)
        checkpoint = _begin(options, settings)
        total_steps = steps_per_epoch(len(routes["train"]), hyperparameters) * hyperparameters.epochs
        base = load_model(options.model, choose_precision(hyperparameters.precision, device), device)
        model = load_adapter(base, checkpoint) if checkpoint else add_adapter(base, hyperparameters)
        learner = Learner(model, hyperparameters, total_steps)
        done = load_state(checkpoint, learner) if checkpoint else Progress()
        episodes = routes["train"], routes["dev"]
        training = Training(options.method, hyperparameters, learner, lessons, *episodes, options.out, done)
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bar(*columns, console=console, transient=True) as bar:
            training.run(bar)
        draw(options.out)
        results = write_results(options.out, _results_of(training, settings, skipped))
    told = f"best TC {100 * done.best_tc:.1f} after epoch {done.best_epoch}: {options.out / BEST}"
    console.print(f"{told}\ncurves: {options.out / CURVES}\nresults: {results}", highlight=False)


def _walks(options: Options, read: Mapping[str, Data], hyperparameters: Hyperparameters) -> Walks:
    """Return how the episodes of both splits are walked and told, with landmarks if features are given."""
    graph = read["train"].graph
    landmarks: dict[str, tuple[str, ...]] = {}
    scorer = None
    if options.features and options.statistics:
        features = read_features(options.features)
        scorer = EmbeddingScorer(features, features, read_statistics(options.statistics, features.model))
        for data, chosen in ((read["train"], options.train), (read["dev"], options.dev)):
            file = landmarks_file(data, chosen)
            if file is None:
                raise BadInput(f"{data.folder}: contains no landmarks of {chosen.split}: remove --features")
            landmarks |= read_landmarks(file)
    elif options.features or options.statistics:
        raise BadInput("--features and --statistics go together: give both or neither")
    flow = yaw_flow(graph) if options.train.dataset == "touchdown" else None
    return Walks(Observer(graph, scorer, flow), options.train.dataset, hyperparameters.max_actions, landmarks)


def _routes(lessons: Lessons, data: Data) -> tuple[list[TrainingRoute], dict[str, str]]:
    """Return (episodes that can be walked and learned, reasons why the others cannot, by id)."""
    routes, skipped = [], dict(data.faults)
    for episode in data.episodes.values():
        try:
            route = lessons.walks.route(episode)
        except (BadInput, NoStreetView) as fault:
            skipped[episode.id] = str(fault)
            continue
        if lessons.gold(route).learned_tokens:
            routes.append(route)
        else:
            skipped[episode.id] = f"its prompt alone has more than {lessons.cutoff} tokens"
    if not routes:
        reason = next(iter(skipped.values()))
        raise BadInput(f"{data.source}: none of its {len(skipped)} episodes can be used (first: {reason})")
    return routes, skipped


def _tell_skipped(split: str, skipped: Mapping[str, str], console: Console) -> None:
    """Print how many episodes of a split are skipped, and why the first is."""
    if skipped:
        episode, reason = next(iter(skipped.items()))
        listed = f"{len(skipped)} episodes skipped, as results.json lists"
        console.print(f"{split}: {listed}; the first, {episode}: {reason}", highlight=False)


def _settings(options: Options, hyperparameters: Hyperparameters, source: str) -> dict[str, Any]:
    """Return the settings that a training depends on, which a resumed one has to share, as plain data."""
    chosen = asdict(options)
    del chosen["resume"], chosen["out"], chosen["device"]
    settings = chosen | {"source": source, "hyperparameters": hyperparameters.model_dump()}
    plain: dict[str, Any] = json.loads(json.dumps(settings, default=str))
    return plain


def _begin(options: Options, settings: dict[str, Any]) -> Path | None:
    """Keep the settings, and return the checkpoint to resume from; `None` for a new training."""
    checkpoint = latest_checkpoint(options.out / CHECKPOINTS)
    path = options.out / SETTINGS
    if checkpoint and not options.resume:
        raise BadInput(
            f"{options.out}: already contains a training: continue it with --resume, or choose another --out"
        )
    if checkpoint and (other := _changed_settings(path, settings)):
        raise BadInput(f"{path}: the settings differ ({', '.join(other)}): choose another --out")
    write_whole(path, json.dumps(settings, indent=2).encode() + b"\n", "choose another --out")
    return checkpoint


def _changed_settings(path: Path, settings: Mapping[str, Any]) -> list[str]:
    """Return the names of the settings that differ from those kept in a file."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return [name for name in settings if kept[name] != settings[name]]
    except (OSError, ValueError, KeyError, TypeError) as fault:
        raise BadInput(f"{path}: is damaged: choose another --out") from fault


def _results_of(
    training: Training, settings: Mapping[str, Any], skipped: Mapping[str, Mapping[str, str]]
) -> dict[str, Any]:
    """Return the contents of `results.json` for a finished training."""
    learner, progress = training.learner, training.progress
    metrics = read_metrics(training.out)
    updates = [line for line in metrics if line["kind"] == "update"]
    evaluations = [line for line in metrics if line["kind"] == "dev"]
    gold = [training.lessons.gold(route) for route in training.train]
    cuda = learner.device.type == "cuda"
    return {
        "settings": settings,
        "versions": versions("torch", "transformers", "peft", "tokenizers"),
        "device": torch.cuda.get_device_name(learner.device) if cuda else "cpu",
        "precision": learner.precision,
        "parameters": {
            "all": sum(one.numel() for one in learner.model.parameters()),
            "trained": sum(one.numel() for one in learner.model.parameters() if one.requires_grad),
        },
        "episodes": {"train": len(training.train), "dev": len(training.dev)},
        "skipped": skipped,
        "gold_samples": {
            "tokens": sum(len(sample.ids) for sample in gold),
            "longest": max(len(sample.ids) for sample in gold),
            "action_tokens": sum(sample.learned_tokens for sample in gold),
            "actions_beyond_cutoff": sum(sample.cut for sample in gold),
            "tokens_shared_with_other_text": sum(sample.shared for sample in gold),
        },
        "steps": progress.step,
        "samples": dict(sum((Counter(line["sources"]) for line in updates), Counter[str]())),
        "best": next((line for line in evaluations if line["epoch"] == progress.best_epoch), None),
        "last": evaluations[-1] if evaluations else None,
        "invalid_replies": sum(line["invalid"] for line in evaluations),
        "seconds": round(progress.seconds, 1),
        "tokens_per_second": {
            "training": _rate(updates, ("tokens", "rollout_tokens")),
            "evaluation": _rate(evaluations, ("tokens",)),
        },
        "peak_memory_mib": max((line["peak_memory_mib"] or 0 for line in metrics), default=0) or None,
    }


def _rate(lines: list[dict[str, Any]], fields: tuple[str, ...]) -> float | None:
    """Return the sum of `fields` a second over lines of metrics; `None` without any seconds."""
    seconds = sum(line["seconds"] for line in lines)
    return round(sum(line[name] for line in lines for name in fields) / seconds, 1) if seconds else None
