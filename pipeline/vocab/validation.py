"""Predicted rates held against published ones."""

from pipeline.vocab.dimensions import DIMENSIONS
from pipeline.vocab.measured import MEASURED
from pipeline.vocab.variable import Variable

VALIDATION = DIMENSIONS | {
    "measurement": MEASURED["measurement"],
    "model": Variable(
        "1",
        "model that predicts: roofline, the slowest of several resources; roofline_compiled, the "
        "same with counts of machine code; sm_replay, that code replayed on one SM",
    ),
    "validated_gpu": Variable("1", "GPU whose predictions are summed up"),
    "measured_gflops": MEASURED["measured_gflops"],
    "predicted_gflops": Variable(
        "GFLOP/s", "predicted rate of the tiling that was measured; NaN if it is not modelled"
    ),
    "ratio": Variable("1", "predicted over measured rate"),
    "bound": Variable(
        "1", "resource that sets the time, in a replay the busiest pipe; none without a prediction"
    ),
    "tiling": Variable("1", "options of the kernel in which the measured one differs"),
    "note": Variable("1", "what is to be known of the prediction, or why there is none"),
    "source": MEASURED["source"],
    "mape": Variable(
        "1", "mean absolute percentage error: mean of |predicted / measured - 1|, as a share"
    ),
    "rank_correlation": Variable(
        "1", "Spearman's rank correlation of predicted and measured rates of one GPU"
    ),
    "compared": Variable("1", "measurements of the GPU that have a prediction"),
}
