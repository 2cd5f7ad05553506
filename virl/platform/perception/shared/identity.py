"""Telling checkpoints apart, so that embeddings of different ones never meet."""

import hashlib
from pathlib import Path

_WHOLE = 16 * 2**20  # bytes; larger files are sampled
_SAMPLES, _SAMPLE = (
    64,
    2**16,
)  # chosen: 4 MiB from all over the file; reading 10 GB would take as long as loading


def identity(source: str) -> str:
    """Return a name for a checkpoint.

    Args:
        source: a path or a hub id.

    Returns:
        The hub id as it is, for who publishes it vouches for what it holds. For a path its last part and
        eight digits that depend on what is there: all of small files, samples of large ones.
    """
    path = Path(source).expanduser()
    return f"{path.name}-{fingerprint(path)}" if path.exists() else source


def fingerprint(path: Path) -> str:
    """Return eight hexadecimal digits that tell the names and contents of a file or folder from others."""
    files = [path] if path.is_file() else sorted(file for file in path.iterdir() if file.is_file())
    digest = hashlib.sha256()
    for file in files:
        size = file.stat().st_size
        digest.update(f"{file.name if path.is_dir() else ''}/{size}\0".encode())
        digest.update(_content(file, size))
    return digest.hexdigest()[:8]


def _content(file: Path, size: int) -> bytes:
    """Return the bytes of a small file, or samples of a large one."""
    with file.open("rb") as stream:
        if size <= _WHOLE:
            return stream.read()
        parts = []
        for sample in range(_SAMPLES):
            stream.seek(sample * (size - _SAMPLE) // (_SAMPLES - 1))
            parts.append(stream.read(_SAMPLE))
        return b"".join(parts)
