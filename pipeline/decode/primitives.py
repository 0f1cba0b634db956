"""The primitive operations of a decode step, and what each needs before it can begin.

The order of the table is one in which they can run. A layer begins with the vector that the layer
before left; after the last one comes the head. The embedding, a copy of one row per sequence, and
the choice of the next token are not part of the step.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from pipeline.decode.model import Model

Stage: TypeAlias = Literal["layer", "head"]
LAYER: Final = "layer"
HEAD: Final = "head"
QK_NORM = "qk_norm"

Shape: TypeAlias = Callable[[Model], tuple[int, int]]


@dataclass(frozen=True)
class Primitive:
    """One operation that no kernel splits.

    Attributes
    ----------
    stage
        ``"layer"``: once in every layer; ``"head"``: once after the last.
    kind
        ``matrix`` multiplies a weight matrix with the vector, ``attention`` reads keys and values;
        both spread their result over many blocks. ``norm`` needs its whole input, and is so cheap
        that every block can do it for itself. ``elementwise`` needs of its input only the elements,
        or the heads, that it writes.
    needs
        Primitives whose results it reads, those of the layer before left out.
    shape
        Rows and columns of the weight matrix of a model; None without one. (A norm's weights are
        one vector, too little to count.)
    """

    stage: Stage
    kind: Literal["matrix", "attention", "norm", "elementwise"]
    needs: tuple[str, ...] = ()
    shape: Shape | None = None

    @property
    def is_spread(self) -> bool:
        """Whether many blocks make a part of the result each."""
        return self.kind in ("matrix", "attention")

    @property
    def needs_all(self) -> bool:
        """Whether every block reads all of the input."""
        return self.kind != "elementwise"


def _matrix(stage: Stage, needs: tuple[str, ...], shape: Shape) -> Primitive:
    return Primitive(stage, "matrix", needs, shape)


PRIMITIVES: Mapping[str, Primitive] = {
    "attention_norm": Primitive(LAYER, "norm"),
    "q": _matrix(LAYER, ("attention_norm",), lambda m: (m.query_size, m.hidden)),
    "k": _matrix(LAYER, ("attention_norm",), lambda m: (m.kv_size, m.hidden)),
    "v": _matrix(LAYER, ("attention_norm",), lambda m: (m.kv_size, m.hidden)),
    QK_NORM: Primitive(LAYER, "elementwise", ("q", "k")),
    "rope": Primitive(LAYER, "elementwise", ("q", "k", QK_NORM)),
    "kv_append": Primitive(LAYER, "elementwise", ("rope", "v")),
    "attention": Primitive(LAYER, "attention", ("rope", "kv_append")),
    "o": _matrix(LAYER, ("attention",), lambda m: (m.hidden, m.query_size)),
    "attention_residual": Primitive(LAYER, "elementwise", ("o",)),
    "mlp_norm": Primitive(LAYER, "norm", ("attention_residual",)),
    "gate": _matrix(LAYER, ("mlp_norm",), lambda m: (m.mlp, m.hidden)),
    "up": _matrix(LAYER, ("mlp_norm",), lambda m: (m.mlp, m.hidden)),
    "silu_multiply": Primitive(LAYER, "elementwise", ("gate", "up")),
    "down": _matrix(LAYER, ("silu_multiply",), lambda m: (m.hidden, m.mlp)),
    "mlp_residual": Primitive(LAYER, "elementwise", ("down", "attention_residual")),
    "final_norm": Primitive(HEAD, "norm"),
    "lm_head": _matrix(HEAD, ("final_norm",), lambda m: (m.vocabulary, m.hidden)),
}
"""Every primitive, by its id."""


def primitives_of(model: Model) -> list[str]:
    """Ids of the primitives that a model has."""
    return [name for name in PRIMITIVES if name != QK_NORM or model.qk_norm]


def behind(name: str) -> set[str]:
    """Everything that must have run before a primitive, in its own layer."""
    direct = PRIMITIVES[name].needs
    return set(direct).union(*map(behind, direct))
