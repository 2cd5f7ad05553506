"""The shell of a page: what is escaped, and what the page may run and load."""

import base64
import hashlib
import json
import re
from html import unescape
from pathlib import Path

import pytest
from hostile_texts import TEXTS, hidden_in
from jinja2 import Environment, UndefinedError

from virl.pages.shell import html_page, open_templates
from virl.plain_text import plain_lines

HOSTILE = '</script><script>alert("1")</script>'


@pytest.fixture
def templates(tmp_path: Path) -> Environment:
    files = {
        "words.html.j2": '{% extends "shell.html.j2" %}{% block title %}{{ words }}{% endblock %}'
        "{% block body %}<p>{{ words|shorten(60) }}</p>{% endblock %}",
        "words.md.j2": "{{ words }}",
        "one.css": "p { color: red; }\n",
        "one.js": "let one = 1;\n",
        "two.js": "let two = 2;\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return open_templates(tmp_path)


def page(templates: Environment, **options: object) -> str:
    return html_page(templates, "words.html.j2", {"words": HOSTILE}, styles=("one.css",), **options)  # type: ignore[arg-type]


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_words_are_escaped_but_in_markdown(templates: Environment) -> None:
    html = page(templates)
    assert "<script" not in html
    assert HOSTILE in unescape(html)
    assert templates.get_template("words.md.j2").render(words=HOSTILE) == HOSTILE


def test_a_page_runs_its_own_style_and_script_and_nothing_else(templates: Environment) -> None:
    html = page(templates, scripts=("one.js", "two.js"))
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', html)[0])
    (style,), (script,) = (
        re.findall(rf"<{name}>(.*?)</{name}>", html, re.DOTALL) for name in ("style", "script")
    )
    assert script == "let one = 1;\nlet two = 2;\n"
    assert f"style-src '{digest(style)}'; script-src '{digest(script)}'" in policy
    assert "default-src 'none'; img-src data:;" in policy


def test_pictures_beside_the_page_are_shown_only_where_asked_for(templates: Environment) -> None:
    assert "img-src data: 'self';" in unescape(page(templates, beside=True))


@pytest.mark.parametrize("data", [{"words": HOSTILE}, [], 0])
def test_data_cannot_end_its_element(templates: Environment, data: object) -> None:
    html = page(templates, data=data)
    assert len(re.findall("<script", html)) == 1
    assert html.count("</script>") == 1


def test_what_a_template_lacks_is_an_error(templates: Environment) -> None:
    with pytest.raises(UndefinedError):
        html_page(templates, "words.html.j2", {}, styles=())


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_no_text_steers_hides_or_takes_the_markup_after_it(templates: Environment, text: str) -> None:
    html = html_page(templates, "words.html.j2", {"words": text}, styles=("one.css",), data={"words": text})
    empty = html_page(templates, "words.html.j2", {"words": ""}, styles=("one.css",), data={"words": ""})
    assert hidden_in(unescape(html)) == []
    assert re.findall("<[^>]*>", html) == re.findall("<[^>]*>", empty)
    kept = re.findall('id="data">(.*?)</script>', html, re.DOTALL)
    assert json.loads(kept[0]) == {"words": plain_lines(text)}


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_markdown_is_plain_text_too(templates: Environment, text: str) -> None:
    assert hidden_in(templates.get_template("words.md.j2").render(words=text)) == []


def test_a_page_brings_the_letters_that_a_system_may_lack(templates: Environment) -> None:
    def made(words: str) -> str:
        return html_page(templates, "words.html.j2", {"words": words})

    plain, rare = (
        made("Caf\u00e9 \u041c\u0438\u0440 \u2013 \u2192"),
        made("\u6c5f\u4e1c \u0645\u0637\u0639\u0645"),
    )
    assert "@font-face" not in plain
    faces = re.findall(
        r"@font-face\{[^}]*?unicode-range:([^;]*);src:url\(data:font/woff2;base64,([^)]*)\)", rare
    )
    assert [codes for codes, _ in faces] == ["U+4e1c,U+6c5f", "U+637,U+639,U+645"]
    assert all(base64.b64decode(data).startswith(b"wOF2") and len(data) < 8000 for _, data in faces)
    (style,) = re.findall(r"<style>(.*?)</style>", rare, re.DOTALL)
    policy = unescape(re.findall(r'Content-Security-Policy" content="([^"]+)"', rare)[0])
    assert '--sans: "virl names"' in style, "browsers keep boxes of a font before it for words on their own"
    assert f"style-src '{digest(style)}'" in policy
    assert "font-src data:;" in policy
