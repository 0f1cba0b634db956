"""Shuffles and votes: values, counts, and lanes that do not take part."""

import numpy as np
import pytest

from pipeline.errors import LaunchError, ModelError
from pipeline.simt import hazards
from pipeline.simt.launch import count, launch

LANE = np.arange(32)


def seen(body, block=32, grid=1, **options):
    """Run a kernel that returns a value per thread; give it and the launch."""
    kept = {}

    def kernel(blk):
        kept["value"] = body(blk)

    launched = launch(kernel, grid, block, **options)
    return np.asarray(kept["value"]), launched


@pytest.mark.parametrize(
    ("name", "by", "expected"),
    [
        ("shfl_idx", 5, np.full(32, 5)),
        ("shfl_idx", 37, np.full(32, 5)),  # modulo 32
        ("shfl_idx", -1, np.full(32, 31)),
        ("shfl_idx", (31 - np.tile(LANE, 2)[None, :]) % 4, LANE[::-1] % 4),
        ("shfl_up", 3, np.where(LANE < 3, LANE, LANE - 3)),
        ("shfl_down", 3, np.where(LANE > 28, LANE, LANE + 3)),
        ("shfl_up", 0, LANE),
        ("shfl_down", 31, np.where(LANE == 0, 31, LANE)),
        ("shfl_xor", 9, LANE ^ 9),
        ("shfl_xor", np.tile(LANE, 2)[None, :], np.zeros(32)),
    ],
)
def test_shuffle__reads_where_cuda_says(name, by, expected):
    got, launched = seen(lambda blk: getattr(blk, name)(blk.lane, by), block=64)
    np.testing.assert_array_equal(got, np.tile(expected, 2)[None, :])
    assert launched.counters["shfl_instr"] == launched.counters["warp_instr"] == 2
    assert launched.counters["thread_instr"] == 64
    assert launched.hazard_counts == {}


@pytest.mark.parametrize("name", ["shfl_up", "shfl_down", "shfl_xor"])
@pytest.mark.parametrize("by", [-1, 32])
def test_shuffle__refuses_distances_that_the_instruction_has_no_bits_for(name, by):
    with pytest.raises(LaunchError, match=rf"test_warp_instructions\.py:\d+: {name} .*0 to 31"):
        seen(lambda blk: getattr(blk, name)(blk.lane, by))


@pytest.mark.parametrize(
    ("dtype", "each"), [("?", 1), ("i1", 1), ("f2", 1), ("i4", 1), ("f4", 1), ("f8", 2), ("u8", 2)]
)
def test_shuffle__moves_32_bits_at_a_time(dtype, each):
    value = np.arange(64).astype(dtype)[None, :]
    got, launched = seen(lambda blk: blk.shfl_xor(value, 1), block=64)
    np.testing.assert_array_equal(got, value[:, np.arange(64) ^ 1])
    assert got.dtype == dtype
    assert launched.counters["shfl_instr"] == each * 2


def test_shuffle__of_several_values_per_thread_is_several_instructions():
    value = np.arange(32 * 6, dtype=np.float32).reshape(1, 32, 3, 2)
    got, launched = seen(lambda blk: blk.shfl_down(value, 1))
    np.testing.assert_array_equal(got[0, :31], value[0, 1:])
    assert launched.counters["shfl_instr"] == 6
    assert launched.counters["thread_instr"] == 6 * 32


def test_shuffle__whole_numbers_are_one_register():
    _, launched = seen(lambda blk: blk.shfl_idx(blk.bx * 32 + blk.tid, 0) + blk.shfl_idx(7, 1))
    assert launched.counters["shfl_instr"] == 2


SHUFFLED = {
    "product of indices": (lambda blk, _: blk.tid * blk.bx, 1),
    "dense": (lambda blk, _: np.asarray(blk.tid + blk.bx), 1),
    "remainder": (lambda blk, _: (blk.tid + blk.bx) % 7, 1),
    "chosen": (lambda blk, _: np.where(blk.tid < 5 + blk.bx, blk.tid, 0), 1),
    "numpy number": (lambda blk, _: np.int64(3), 1),
    "declared": (lambda blk, _: blk.zeros(dtype="i8") + blk.tid * blk.bx, 2),
    "loaded": (lambda blk, x: np.maximum(blk.load(x, blk.tid), blk.bx), 2),
    "loaded and chosen": (lambda blk, x: np.where(blk.tid < 5, blk.load(x, blk.tid), 0), 2),
    "loaded and shuffled": (lambda blk, x: blk.shfl_xor(blk.load(x, blk.tid), 0), 4),
    "old value": (lambda blk, x: blk.atomic_add(x, blk.tid, 0), 2),
    "loaded and narrowed": (lambda blk, x: blk.load(x, blk.tid).astype("i4"), 1),
}


@pytest.mark.parametrize("name", SHUFFLED)
@pytest.mark.parametrize("grid", [1, 3])
def test_shuffle__takes_the_registers_of_where_a_whole_number_comes_from(name, grid):
    make, each = SHUFFLED[name]

    def body(blk, x):
        blk.shfl_down(make(blk, x), 1)

    x = np.zeros(32, np.int64)
    runs = [launch(body, grid, 32, x, batch_lanes=lanes) for lanes in (1, 64, 10_000)]
    runs.append(count(body, grid, 32, x))
    assert [run.counters["shfl_instr"] for run in runs] == [each * grid] * 4


def test_shuffle__differs_from_block_to_block():
    got, _ = seen(lambda blk: blk.shfl_idx(blk.bx * 100 + blk.lane, blk.bx), grid=3)
    np.testing.assert_array_equal(got, np.repeat([[0], [101], [202]], 32, axis=1))


def test_shuffle__an_inactive_lane_gives_zero_and_is_a_hazard():
    def body(blk):
        with blk.where(blk.bx == 1), blk.where(blk.tid >= 34):
            return blk.shfl_xor(blk.tid + 1, 2)

    got, launched = seen(body, grid=3, block=64)
    expected = np.where(LANE >= 2, (LANE ^ 2) + 33, 0)
    expected[[0, 1, 2, 3]] = 0  # lanes 2 and 3 read lanes 0 and 1, which sleep
    np.testing.assert_array_equal(got[1], [0] * 32 + expected.tolist())
    assert not got[[0, 2]].any()
    assert launched.hazard_counts == {hazards.INACTIVE_LANE: 1}
    assert launched.counters["race_count"] == 0
    (hazard,) = launched.hazards
    assert (hazard.block, hazard.warp, hazard.index) == ((1, 0, 0), 1, 0)
    line = body.__code__.co_firstlineno + 2
    assert f"test_warp_instructions.py:{line}: block (1, 0, 0), warp 1, lane 0" in str(hazard)
    assert "does not take part" in str(hazard)


def test_shuffle__lanes_beyond_the_block_do_not_take_part():
    got, launched = seen(lambda blk: blk.shfl_down(blk.tid, 16), block=(40,), grid=2)
    np.testing.assert_array_equal(got[0, :32], np.where(LANE < 16, LANE + 16, LANE))
    np.testing.assert_array_equal(got[0, 32:], np.zeros(8))
    assert launched.hazard_counts == {hazards.INACTIVE_LANE: 2}
    assert launched.hazards[0].index == 16


@pytest.mark.parametrize("value", [np.zeros((1, 5)), np.zeros(7), np.zeros((1, 32), complex)])
def test_shuffle__refuses_values_that_no_register_holds(value):
    with pytest.raises(LaunchError, match=r"test_warp_instructions\.py:\d+: .*(expected|allowed)"):
        seen(lambda blk: blk.shfl_idx(value, 0))


def test_vote__answers_every_active_lane():
    def body(blk):
        with blk.where(blk.tid < 36):
            some = blk.lane % 2 == 0
            return np.stack(
                [
                    blk.ballot(some),
                    blk.vote_any(some),
                    blk.vote_all(some),
                    blk.vote_all(blk.tid < 32),
                    blk.vote_any(blk.tid < 0),
                ]
            )

    (got, launched) = seen(body, block=48)
    bits, some, every, first, nobody = got[:, 0]
    np.testing.assert_array_equal(bits, [0x55555555] * 32 + [0b0101] * 4 + [0] * 12)
    np.testing.assert_array_equal(some, [1] * 36 + [0] * 12)
    np.testing.assert_array_equal(every, np.zeros(48))
    np.testing.assert_array_equal(first, [1] * 32 + [0] * 16)
    np.testing.assert_array_equal(nobody, np.zeros(48))
    assert launched.counters["vote_instr"] == launched.counters["warp_instr"] == 10
    assert launched.counters["thread_instr"] == 5 * 36


def test_vote__the_answer_may_steer_a_branch():
    def body(blk):
        with blk.where(blk.vote_any(blk.tid == 40)):
            return blk.ballot(blk.lane == 31)

    got, _ = seen(body, block=64)
    np.testing.assert_array_equal(got[0], [0] * 32 + [1 << 31] * 32)
    assert got.dtype == np.uint32


@pytest.mark.parametrize("name", ["ballot", "vote_any", "vote_all"])
def test_vote__refuses_what_is_no_truth_value(name):
    with pytest.raises(
        LaunchError, match=r"test_warp_instructions\.py:\d+: the condition of a vote"
    ):
        seen(lambda blk: getattr(blk, name)(blk.tid))


def test_counting__keeps_what_is_known_and_knows_what_is_not():
    kept = {}

    def kernel(blk, x):
        value = blk.load(x, blk.bx * 64 + blk.tid)
        for step in (16, 8, 4, 2, 1):
            value = value + blk.shfl_down(value, step)
        kept["known"] = blk.shfl_idx(blk.lane * 3, 2), blk.ballot(blk.tid < 3)
        kept["unknown"] = value, blk.ballot(value > 0), blk.vote_all(value > 0)
        with blk.where(blk.vote_any(blk.tid == 40)):
            blk.load(x, blk.tid)

    x = np.zeros(640, np.float32)
    counted = count(kernel, 10, 64, x)
    np.testing.assert_array_equal(kept["known"][0], np.full((1, 64), 6))
    np.testing.assert_array_equal(kept["known"][1], [[7] * 32 + [0] * 32])
    assert [type(value).__name__ for value in kept["unknown"]] == ["Unknown"] * 3
    assert counted == launch(kernel, 10, 64, x)


@pytest.mark.parametrize(
    "refused",
    [
        lambda blk, value: blk.where(blk.vote_any(value > 0)).__enter__(),
        lambda blk, value: bool(blk.vote_all(value > 0)),
        lambda blk, value: blk.shfl_idx(blk.tid, value.astype(int)),
        lambda blk, value: blk.shfl_up(blk.tid, value.astype(int)),
    ],
)
def test_counting__refuses_what_depends_on_data(refused):
    def kernel(blk, x):
        refused(blk, blk.load(x, blk.tid))

    with pytest.raises(ModelError, match=r"test_warp_instructions\.py:\d+: .*depends on data"):
        count(kernel, 1, 32, np.zeros(32, np.float32))
