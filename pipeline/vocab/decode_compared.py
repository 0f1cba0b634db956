"""Models of decoding held against published measurements."""

from pipeline.vocab.decode_measured import DECODE_MEASURED
from pipeline.vocab.variable import Variable

DECODE_COMPARED = DECODE_MEASURED | {
    "workload_name": Variable("1", "name of the model as shown to readers; empty for none"),
    "kind": Variable("1", "gemv, launch, step or breakdown"),
    "kind_group": Variable("1", "kind of measurement that a mean is taken over"),
    "decode_model": Variable("1", "lecture, straight_line or instruction"),
    "predicted": Variable("1", "figure that the model gives, in SI units; NaN if it gives none"),
    "ratio": Variable("1", "predicted over measured; NaN for a bound"),
    "holds": Variable("1", "1 if the prediction keeps the published bound, 0 if not; NaN if none"),
    "mape": Variable("1", "mean absolute relative error of a kind of measurement, bounds left out"),
    "compared": Variable("1", "measurements of a kind that the mean is taken over"),
    "shapes": Variable("1", "GEMV shapes: all, or large ones of at least 8 MB"),
    "held_out": Variable("1", "what a model was not fitted to, of what it is tried on"),
    "gemv_gpu": Variable("1", "GPU of GEMVs"),
    "gemv_model": Variable("1", "straight_line: one per GPU; physical: one for all"),
    "gemv_mape": Variable("1", "mean absolute relative error over GEMVs"),
}
