"""What lecture 11 shows."""

from pipeline.config.section import Ids, Section, setting


class Lecture11(Section):
    """What the tables and figures of lecture 11 single out."""

    model: str = setting("The language model.", "model id", "one of decode.models")
    gpu: str = setting("GPU of the figures that show one GPU.", "GPU id", "one of gpus")
    shown_gpus: Ids = setting(
        "GPUs of the figures that are readable for a few.", "GPU ids", "list, each one of gpus"
    )
    reference: str = setting(
        "Execution that others are compared with.", "execution id", "one of decode.executions"
    )
    compared: str = setting(
        "Execution whose speed-up over the reference is looked at.",
        "execution id",
        "one of decode.executions, not the reference",
    )
