"""Ways to damage an input. All chance comes from the generator given, so that a seed repeats a session."""

import gzip
import json
import random
from collections.abc import Callable
from copy import deepcopy
from typing import Any

Mutator = Callable[[random.Random, bytes], bytes]


class Raw(str):
    """JSON text that stands as it is, such as a number that no double holds."""

    __slots__ = ()


HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 3, 2**31, -(2**63), 2**63, 10**12, 0.5, -0.0, 1e308, -1e-320,
    "", " ", "\x00", "\x1b[2J", "\n\r\n", "nan", "inf", "-1", "1e999", "9" * 400, "NaN", "OK",
    "é\u202e\U000e0041",
    "../../etc/passwd", "<script>alert(1)</script>", "{{ 7 * 7 }}", "x" * 5000, "0s", "-5s", "9" * 30 + "s",
    "_p~iF~ps|U_ulLnnqC_mqNvxq`@", "~" * 300, "?" * 301, "2001-99-99", "24:00", "12:60",
    [], {}, [[]], [None], [0] * 300, ["a"] * 300, [{}], {"": ""}, {"status": {}}, {"text": 1}, {"lat": "x"},
    Raw("Infinity"), Raw("-Infinity"), Raw("NaN"), Raw("1" * 400), Raw("-" + "9" * 5000), Raw("1e400"),
    Raw('"\\ud800"'), Raw("[" * 300 + "]" * 300), Raw('{"a":' * 300 + "1" + "}" * 300), Raw("[" * 20_000),
    Raw("01"), Raw("'single'"), Raw("0x10"), Raw("1_000"), Raw("undefined"),
)  # fmt: skip
HOSTILE_BYTES = (
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x80", b"\xed\xa0\x80", b"\n", b"\r", b"\t",
    b"\x1b]52;c;AA\x07", b",",
    b"{", b"}", b"[", b"]", b'"', b"\\", b"\\u0000", b":", b"-", b"&a [*a]", b"*x",
    b"!!python/object:os.system",
    b"!!timestamp x", b"{{", b"}}", b"{%", b"---\n", b"9" * 400, b"1e999", b".inf", b"[" * 300, b"  " * 200,
    b"\xf0\x9f\x98\x80",
    b"<html><body>", b"NaN", b"2001-99-99", b"=", b"#", b"'", b"|", b">", b"? ", b"- ", b"0" * 5000,
)  # fmt: skip


def mutate_bytes(rng: random.Random, data: bytes) -> bytes:
    """The bytes cut, spliced, doubled, flipped, or with hostile ones among them; up to four times."""
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        at = rng.randrange(len(data) + 1)
        span = min(len(data) - at, rng.choice((1, 2, 8, 40, 400)))
        match rng.randrange(8):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[at + span :]
            case 2:
                data = data[:at] + data[at : at + span] * rng.choice((2, 3, 50)) + data[at + span :]
            case 3 if data:
                at = rng.randrange(len(data))
                data = data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1 :]
            case 4:
                data = data[:at] + rng.randbytes(rng.randrange(1, 9)) + data[at:]
            case 5:
                other = rng.randrange(len(data) + 1)
                data = data[:at] + data[other : other + span] + data[at + span :]
            case _:
                data = (
                    data[:at] + rng.choice(HOSTILE_BYTES) + data[at + (span if rng.random() < 0.5 else 0) :]
                )
    return data


def mutate_lines(rng: random.Random, data: bytes) -> bytes:
    """Lines left out, doubled, swapped or indented, or the bytes of one changed."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    match rng.randrange(6):
        case 0:
            del lines[at]
        case 1:
            lines.insert(rng.randrange(len(lines) + 1), lines[at])
        case 2:
            other = rng.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        case 3:
            lines[at] = rng.choice((b" ", b"  ", b"\t", b"- ")) + lines[at]
        case _:
            lines[at] = mutate_bytes(rng, lines[at])
    return b"\n".join(lines)


def mutate_yaml(rng: random.Random, data: bytes) -> bytes:
    """A value of a line replaced by a hostile one, or the lines or bytes changed."""
    if rng.random() < 0.4:
        lines = data.split(b"\n")
        at = rng.randrange(len(lines))
        name, colon, _ = lines[at].partition(b":")
        if colon:
            lines[at] = name + b": " + rng.choice((dumped(_hostile(rng)), rng.choice(HOSTILE_BYTES)))
        return b"\n".join(lines)
    return mutate_lines(rng, data) if rng.random() < 0.5 else mutate_bytes(rng, data)


def mutate_json(rng: random.Random, data: bytes) -> bytes:
    """Mostly values of the tree replaced, dropped, doubled or renamed; at times the bytes changed."""
    if rng.random() < 0.15:
        return mutate_bytes(rng, data)
    try:
        tree = json.loads(data)
    except ValueError:
        return mutate_bytes(rng, data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        tree = mutate_tree(rng, tree)
    return dumped(tree)


def mutate_json_lines(rng: random.Random, data: bytes) -> bytes:
    """One line changed as JSON, or the lines as lines."""
    if rng.random() < 0.3:
        return mutate_lines(rng, data)
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    lines[at] = mutate_json(rng, lines[at])
    return b"\n".join(lines)


def mutate_tree(rng: random.Random, tree: Any) -> Any:
    """A tree with one of its values changed; the tree given is changed itself."""
    spots = list(_spots(tree))
    if not spots or rng.random() < 0.03:
        return _hostile(rng)
    parent, key = rng.choice(spots)
    match rng.randrange(8):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.insert(rng.randrange(len(parent) + 1), parent[key])
        case 1:
            parent[str(key) + rng.choice(("", "x", " "))] = parent.pop(key)
        case 2:
            other, other_key = rng.choice(spots)
            parent[key] = (
                json.loads(json.dumps(_plain(other[other_key]))) if other_key in _keys(other) else None
            )
        case 3 if isinstance(parent[key], list):
            parent[key] = parent[key] * rng.choice((0, 2, 60))
        case 4:
            parent[key] = [parent[key]]
        case 5 if isinstance(parent[key], int | float) and not isinstance(parent[key], bool):
            parent[key] = parent[key] * rng.choice((-1, 2, 0.5, 1000, 10**9))
        case _:
            parent[key] = _hostile(rng)
    return tree


def mutate_http(rng: random.Random, data: bytes) -> bytes:
    """A whole HTTP reply: mostly its body as JSON, at times its status, its headers or its encoding."""
    head, _, body = data.partition(b"\r\n\r\n")
    lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length")]
    body = mutate_json(rng, body) if body[:1] in (b"{", b"[") else mutate_bytes(rng, body)
    chance = rng.random()
    if chance < 0.12:
        status = rng.choice(
            (b"200", b"204", b"301", b"302", b"400", b"401", b"403", b"404", b"429", b"500", b"503", b"999")
        )
        lines[0] = b"HTTP/1.1 " + status + b" Whatever"
    if chance < 0.2:
        lines.append(rng.choice(HOSTILE_HEADERS))
    if 0.2 < chance < 0.24:
        body = gzip.compress(rng.choice((body, b"0" * 40_000_000)), 1)
        lines.append(
            rng.choice((b"content-encoding: gzip", b"content-encoding: gzip, gzip", b"content-encoding: br"))
        )
    if 0.24 < chance < 0.27:
        body = rng.choice(
            (b"", b"<html><h1>503</h1></html>", b"null", b"[]", b"{}", b"true", b'"OK"', b"\x1f\x8b\x08")
        )
    length = len(body) if rng.random() > 0.03 else rng.choice((0, 1, len(body) // 2, len(body) + 50, 10**15))
    lines.append(b"content-length: %d" % length)
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


HOSTILE_HEADERS = (
    b"location: http://127.0.0.1:9/elsewhere", b"location: //[::1", b"location: file:///etc/passwd",
    b"location: /",
    b"location: http://\xff\xfe/", b"retry-after: 99999999999999999999", b"retry-after: -1",
    b"retry-after: x",
    b"retry-after: Mon, 99 Jan 99999 99:99:99 GMT", b"retry-after: Wed, 21 Oct 2099 07:28:00 +9999",
    b"retry-after: 1", b"content-encoding: gzip", b"content-encoding: deflate", b"transfer-encoding: chunked",
    b"content-type: text/html; charset=utf-16", b"content-type: application/json; charset=\xff",
    b"x-long: " + b"y" * 70_000,
    b"set-cookie: a=b", b"content-length: 5", b"no colon",
)  # fmt: skip


def dumped(tree: Any) -> bytes:
    """A tree as JSON, hostile spellings included."""
    marks: dict[str, str] = {}

    def marked(value: Any) -> Any:
        if isinstance(value, Raw):
            mark = f"@raw{len(marks)}@"
            marks[mark] = str(value)
            return mark
        if isinstance(value, dict):
            return {str(key): marked(inner) for key, inner in value.items()}
        return [marked(inner) for inner in value] if isinstance(value, list) else value

    text = json.dumps(marked(tree), ensure_ascii=False)
    for mark, raw in marks.items():
        text = text.replace(f'"{mark}"', raw)
    return text.encode("utf-8", "surrogatepass")


def _hostile(rng: random.Random) -> Any:
    return deepcopy(rng.choice(HOSTILE_VALUES))  # what is put into a tree may be changed with it


def _plain(value: Any) -> Any:
    """A value without hostile spellings, which cannot be copied through JSON."""
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return None if isinstance(value, Raw) else value


def _spots(tree: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    todo = [tree]
    while todo and len(found) < 2000:
        parent = todo.pop()
        found += [(parent, key) for key in _keys(parent)]
        todo += [parent[key] for key in _keys(parent)]
    return found


def _keys(parent: Any) -> list[Any]:
    if isinstance(parent, dict):
        return list(parent)
    return list(range(len(parent))) if isinstance(parent, list) else []
