"""The shape of a decoder-only language model, as far as a decode step depends on it."""

from dataclasses import dataclass

NORMS_PER_LAYER = 2


@dataclass(frozen=True)
class Model:
    """A decoder of equal layers: grouped-query attention, then a gated MLP, each behind a norm.

    Attributes
    ----------
    id, name
        Identity in stores, and the name as shown to readers.
    layers
        Decoder layers.
    hidden
        Elements of the vector that goes from layer to layer.
    heads, kv_heads
        Query heads, and the heads of keys and values that they share.
    head_size
        Elements of one head.
    mlp
        Elements between the two matrices of the MLP; the gate has as many.
    vocabulary
        Rows of the embedding and of the head.
    tied_embeddings
        Whether head and embedding are one matrix. A step reads it once in either case, as the head;
        of the embedding it reads one row.
    qk_norm
        Whether each head of queries and keys is normed before the positions are turned in.
    data_type
        Type in which the weights are published, a key of ``TYPE_BITS``.
    """

    id: str
    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_size: int
    mlp: int
    vocabulary: int
    tied_embeddings: bool
    qk_norm: bool
    data_type: str

    @property
    def query_size(self) -> int:
        """Elements of all query heads together; not always ``hidden``."""
        return self.heads * self.head_size

    @property
    def kv_size(self) -> int:
        """Elements of all heads of keys, or of values, together."""
        return self.kv_heads * self.head_size

    @property
    def parameters(self) -> int:
        """Trained numbers, all matrices and norms; the size in the model's name."""
        attention = 2 * self.hidden * (self.query_size + self.kv_size)
        norms = NORMS_PER_LAYER * self.hidden + 2 * self.head_size * self.qk_norm
        layer = attention + 3 * self.hidden * self.mlp + norms
        tables = 1 if self.tied_embeddings else 2
        return self.layers * layer + self.hidden + tables * self.vocabulary * self.hidden
