"""A store that grows region by region."""

import pickle
import threading

import numpy as np
import pytest
import xarray as xr

from pipeline import store
from pipeline.errors import DataError
from pipeline.region_store import RegionStore
from pipeline.sweep.layout import template
from tests.sweep import toy

SWEEP = toy.sweep()
REGIONS = SWEEP.regions()


def laid_out():
    return template(SWEEP, toy.computed(SWEEP.part(REGIONS[0])))


def fill(target, numbers):
    for number in numbers:
        region = REGIONS[number]
        target.finish(number, region, target.write(region, toy.computed(SWEEP.part(region))))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "toy.zarr"


def stopped(path, numbers, identity="one"):
    """What a killed run leaves behind: finished regions, and no lock."""
    target = RegionStore(path)
    target.prepare(laid_out(), identity)
    fill(target, numbers)
    target.release()
    return target


def test_publish__gives_a_store_like_any_other(path):
    target = stopped(path, range(len(REGIONS)))
    assert not path.exists()
    target.publish()
    assert store.read(path).equals(toy.whole())
    assert list(path.parent.iterdir()) == [path]
    whole = toy.whole()
    for name in whole.variables:
        whole[name].attrs.update(toy.LABELS)
    store.write(whole.chunk(x=2, y=3, label=2), path.with_name("other.zarr"))
    assert store.read(path.with_name("other.zarr")).identical(store.read(path))


def test_write__keeps_every_text_in_its_place_however_it_lies_in_memory(path):
    target = RegionStore(path)
    target.prepare(laid_out(), "one")
    for number, region in enumerate(REGIONS):
        part = toy.computed(SWEEP.part(region))
        across = part["text"].copy(data=np.asfortranarray(part["text"].to_numpy().astype(str)))
        target.finish(number, region, target.write(region, part.assign(text=across)))
    target.publish()
    assert store.read(path).equals(toy.whole())


def test_publish__replaces_an_older_store(path):
    store.write(toy.whole().isel(x=[0]).pipe(labelled), path)
    stopped(path, range(len(REGIONS))).publish()
    assert store.read(path).sizes["x"] == 6
    assert list(path.parent.iterdir()) == [path]


def labelled(dataset):
    for name in dataset.variables:
        dataset[name].attrs.update(toy.LABELS)
    return dataset


def test_publish__refuses_a_store_with_a_hole(path):
    with pytest.raises(DataError, match="5 of 6 of its chunks"):
        stopped(path, range(5)).publish()
    assert not path.exists()


def test_prepare__takes_finished_regions_over(path):
    stopped(path, [0, 3])
    again = RegionStore(path)
    assert set(again.prepare(laid_out(), "one")) == {0, 3}
    fill(again, [1, 2, 4, 5])
    again.publish()
    assert store.read(path).equals(toy.whole())


def test_prepare__takes_nothing_of_another_sweep(path):
    stopped(path, [0, 3])
    again = RegionStore(path)
    assert again.prepare(laid_out(), "another") == {}
    assert not list((again.workplace / "store").rglob("c/*/*/*"))


@pytest.mark.parametrize("harm", ["cut", "removed", "changed"])
def test_prepare__a_region_whose_file_is_not_as_written_is_not_finished(path, harm):
    target = stopped(path, [0, 3])
    file = target.workplace / "store/value/c/0/0/0"
    if harm == "removed":
        file.unlink()
    else:
        held = file.read_bytes()
        file.write_bytes(held[:-3] if harm == "cut" else held[:-1] + b"\x00")
    assert set(RegionStore(path).prepare(laid_out(), "one")) == {3}


def test_prepare__a_torn_line_of_the_journal_counts_for_nothing(path):
    target = stopped(path, [0, 3])
    journal = target.workplace / "journal"
    journal.write_text(journal.read_text()[:-20])
    (target.workplace / "store/value/c/0/0/0.abc.partial").touch()
    assert set(RegionStore(path).prepare(laid_out(), "one")) == {0}
    assert not list(target.workplace.rglob("*.partial"))


def test_prepare__only_one_process_at_a_time(path):
    first = RegionStore(path)
    first.prepare(laid_out(), "one")
    with pytest.raises(DataError, match="another process is writing this store"):
        RegionStore(path).prepare(laid_out(), "one")


@pytest.mark.parametrize(
    "region",
    [
        {"x": slice(1, 3), "y": slice(0, 3)},
        {"x": slice(0, 1), "y": slice(0, 3)},
        {"x": slice(0, 4), "y": slice(0, 3)},
        {"x": slice(0, 2), "y": slice(0, 4)},
        {"x": slice(0, 2)},
        {"x": slice(0, 2), "y": slice(0, 3), "z": slice(0, 1)},
    ],
)
def test_write__refuses_what_straddles_chunks(path, region):
    target = stopped(path, [])
    inside = {dim: cut for dim, cut in region.items() if dim != "z"}
    part = toy.computed(SWEEP.coordinates.isel(inside))
    with pytest.raises(DataError, match="is not one chunk of"):
        target.write(region, part)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda part: part.drop_vars("text"), "brings small, value; the store has"),
        (
            lambda part: part.assign(value=part.value.astype("f4")),
            "float32",
        ),
        (lambda part: part.transpose("y", "x", "label"), "over"),
        (lambda part: part.isel(x=[0]), "shape"),
    ],
)
def test_write__refuses_what_the_template_did_not_promise(path, change, said):
    target = stopped(path, [])
    with pytest.raises(DataError, match=said):
        target.write(REGIONS[0], change(toy.computed(SWEEP.part(REGIONS[0]))))


def test_write__regions_can_be_written_at_the_same_time(path):
    target = stopped(path, [])
    copy = pickle.loads(pickle.dumps(target))
    threads = [
        threading.Thread(target=copy.write, args=(region, toy.computed(SWEEP.part(region))))
        for region in REGIONS
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    target.publish()
    assert store.read(path).equals(toy.whole())


def test_write__a_chunk_of_nothing_but_zeros_is_there(path):
    target = stopped(path, [])
    part = xr.zeros_like(toy.computed(SWEEP.part(REGIONS[0]))[["value", "small"]])
    part["text"] = (part.value.dims, np.full(part.value.shape, "", object))
    target.write(REGIONS[0], part)
    assert (target.workplace / "store/small/c/0/0/0").exists()
