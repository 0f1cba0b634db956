"""Text that shows as it is, whatever signs a label from a data sheet holds."""

import re

from pipeline.render.column import INFINITE, MISSING

_MARKDOWN = str.maketrans(
    {sign: f"\\{sign}" for sign in "\\`*_[]|~$#"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
)
_TEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "{}$&#_%"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}"}
    # A line break in a table takes an optional argument in brackets.
    | {"[": "{[}", "]": "{]}"}
    | {MISSING: "--", INFINITE: r"$\infty$", "\N{MULTIPLICATION SIGN}": r"$\times$"}
)


def escape_markdown(text: str) -> str:
    r"""Make Markdown show ``text`` as it is, in one line.

    >>> escape_markdown("a|b_c <i>")
    'a\\|b\\_c &lt;i&gt;'
    """
    return " ".join(text.split()).translate(_MARKDOWN)


def escape_rst(text: str) -> str:
    r"""Make reStructuredText show ``text`` as it is, in one line.

    >>> escape_rst("a *b* c_")
    'a \\*b\\* c\\_'
    """
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", " ".join(text.split()))


def escape_tex(text: str) -> str:
    r"""Make LaTeX show ``text`` as it is, in one line.

    >>> escape_tex("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return " ".join(text.split()).translate(_TEX)
