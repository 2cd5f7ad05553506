"""A watch on templates, in every test: none may hide a variable of its page by a name of its own."""

from functools import cache

import jinja2
from jinja2 import nodes

_render = jinja2.Template.render


@cache
def own_names(environment: jinja2.Environment, name: str) -> frozenset[str]:
    """The names that a template and those it extends set, import, or give to macros."""
    assert environment.loader is not None
    tree = environment.parse(environment.loader.get_source(environment, name)[0])
    names = {macro.name for macro in tree.find_all(nodes.Macro)}
    for imported in tree.find_all(nodes.FromImport):
        names |= {one if isinstance(one, str) else one[1] for one in imported.names}
    for assigned in tree.find_all(nodes.Assign):
        targets = [assigned.target, *assigned.target.find_all(nodes.Name)]
        names |= {one.name for one in targets if isinstance(one, nodes.Name)}
    for parent in tree.find_all(nodes.Extends):
        if isinstance(parent.template, nodes.Const):
            names |= own_names(environment, parent.template.value)
    return frozenset(names)


def render(template: jinja2.Template, *args: object, **kwargs: object) -> str:
    """Render a template as usual, but refuse variables that it hides."""
    if template.name and template.environment.loader:
        hidden = own_names(template.environment, template.name) & dict(*args, **kwargs).keys()
        assert not hidden, f"{template.name} hides the page's {sorted(hidden)}"
    return _render(template, *args, **kwargs)


def watch_templates() -> None:
    """Let every template that a test renders be watched."""
    jinja2.Template.render = render  # type: ignore[method-assign]
