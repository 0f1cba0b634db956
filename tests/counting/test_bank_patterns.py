from math import gcd

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from pipeline.counting.bank_map import bank_map
from pipeline.counting.bank_patterns import PATTERNS, Pattern, bank_patterns
from pipeline.counting.recorder import record
from pipeline.kernels import k03_smem, k05_blocktile_2d
from pipeline.kernels.matmul import counts
from pipeline.kernels.registry import KERNELS
from pipeline.simt.banks import wavefronts
from pipeline.simt.memory import GlobalArray
from pipeline.vocab.bank_patterns import BANK_PATTERNS
from tests.strategies import warps


@pytest.fixture(scope="module")
def patterns():
    return bank_patterns()


def one(patterns, name):
    names = ("instructions", "bytes", "wavefronts", "ideal_wavefronts", "hardware_wavefronts")
    return [int(patterns[of].sel(pattern=name)) for of in names]


# What the lecture works out by hand: instructions, bytes, wavefronts, ideal, by hardware's rule.
BY_HAND = {
    "contiguous_32bit": [1, 128, 1, 1, 1],
    "contiguous_64bit": [1, 256, 2, 2, 2],
    "contiguous_128bit": [1, 512, 4, 4, 4],
    "broadcast_32bit": [1, 128, 1, 1, 1],
    "broadcast_128bit": [1, 512, 4, 4, 2],
    "k05_a_read": [8, 1024, 16, 8, 16],
    "k05_b_read": [8, 1024, 32, 8, 32],
    "k05_b_read_vec_b": [2, 1024, 16, 8, 16],
    "k06_a_read": [2, 1024, 8, 8, 4],
    "k06_b_read": [2, 1024, 16, 8, 16],
    "k06_a_write": [4, 512, 8, 4, 8],
    "k06_b_write": [1, 512, 4, 4, 4],
}


@pytest.mark.parametrize("name", BY_HAND)
def test_bank_patterns__equal_what_is_worked_out_by_hand(name, patterns):
    assert one(patterns, name) == BY_HAND[name]


@pytest.mark.parametrize("stride", range(2, 33))
def test_bank_patterns__strides_conflict_by_their_common_divisor_with_the_banks(stride, patterns):
    ways = gcd(stride, 32)
    assert one(patterns, f"stride_{stride}") == [1, 128, ways, 1, ways]


def test_bank_patterns__explain_themselves(patterns):
    assert list(patterns["pattern"].to_numpy()) == list(PATTERNS)
    for name in patterns.variables:
        assert patterns[name].attrs == BANK_PATTERNS[name].attrs
    taken = patterns["kernel"].to_series()
    assert taken["k05_a_read"] == "k05_blocktile_2d"
    assert taken["stride_2"] == ""


@pytest.mark.parametrize("kernel", ["k05_blocktile_2d", "k06_vectorized", "k07_banks_linearized"])
def test_bank_patterns__add_up_to_the_counters_of_the_kernel(kernel):
    launched = counts(KERNELS[kernel], 128, 128, 128).counters
    parts = bank_patterns(
        {
            f"{array} {store}": Pattern("", KERNELS[kernel], array=array, store=store)
            for array in ("a_tile", "b_tile")
            for store in (False, True)
        }
    )
    # 8 warps; 128 steps along k are read, 16 tiles are stored.
    times = 8 * np.where(parts["store"], 128 // 8, 128)
    for name, counter in (("instructions", "smem_instr"), ("wavefronts", "smem_wavefronts")):
        assert int((parts[name] * times).sum()) == launched[counter]
    assert int((parts["ideal_wavefronts"] * times).sum()) == launched["ideal_smem_wavefronts"]


def test_record__keeps_every_access_and_its_addresses():
    n = 32
    arrays = [GlobalArray.without_values(name, n * n, "f4") for name in "abc"]
    options = k03_smem.Options()
    calls = record(k03_smem.KERNEL.body, (1024, 1, 1), *arrays, n, n, n, options)
    assert [call.store for call in calls[:3]] == [True, True, False]
    reads = [call for call in calls if not call.store]
    assert len(reads) == 2 * n
    # All lanes of the first warp read one word of A, and neighbours of B.
    assert (reads[2].address == 4).all()
    assert reads[3].address.tolist() == list(range(128, 256, 4))
    assert reads[0].counters["lds_instr"] == n
    assert {call.access_bytes for call in calls} == {4}


def test_record__counts_by_the_rule_asked_for():
    options = k05_blocktile_2d.Options(wide_loads="whole")
    arrays = [GlobalArray.without_values(name, 128 * 128, "f4") for name in "abc"]
    arguments = (k05_blocktile_2d.KERNEL.body, (256, 1, 1), *arrays, 128, 128, 8, options)
    total = [
        sum(call.counters["lds_wavefronts"] for call in record(*arguments, rule=rule))
        for rule in ("lecture", "hardware")
    ]
    assert total[1] < total[0]


@given(st.sampled_from([4, 8, 16]).flatmap(lambda size: st.tuples(st.just(size), warps(size))))
def test_bank_map__serves_every_word_once_and_takes_the_wavefronts_counted(drawn):
    access_bytes, (address, _) = drawn
    served = bank_map(address[0], access_bytes)
    everybody = np.ones(32, bool)
    taken, ideal = wavefronts(address[0], everybody, access_bytes, "lecture")
    assert max(word.wavefront for word in served) + 1 == taken
    assert len({word.wavefront for word in served}) == taken
    assert len({word.wavefront for word in served if word.first}) == ideal
    # A bank gives one word at a time, and every lane gets all its words.
    places = [(word.wavefront, word.bank) for word in served]
    assert len(places) == len(set(places))
    got = sorted((lane, word.word) for word in served for lane in word.lanes)
    words = access_bytes // 4
    assert got == sorted(
        (lane, start // 4 + i) for lane, start in enumerate(address[0]) for i in range(words)
    )
    assert all(word.bank == word.word % 32 for word in served)
