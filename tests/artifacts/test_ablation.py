from pipeline.artifacts.lecture10.ablation import NOTHING, WORDS
from pipeline.timing.sm.mechanisms import NAMES


def test_ablation__every_mechanism_has_words():
    assert set(WORDS) == {NOTHING, *NAMES}
