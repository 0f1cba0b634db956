import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pipeline import store
from pipeline.errors import DataError

ROOT = Path(__file__).parents[2]


def labelled(**variables):
    dataset = xr.Dataset(
        variables,
        coords={"kernel": ["k01_naive", "k02_coalesced"], "n": [128, 256], "method": "per_fma"},
    )
    for name in dataset.variables:
        dataset[name].attrs.update(units="1", long_name=f"what {name} is")
    return dataset


def example():
    dataset = labelled(
        fma=(("kernel", "n"), np.array([[2**60, 1], [2, 0]])),
        t=(("kernel", "n"), np.array([[0.5, np.nan], [np.inf, 0.0]])),
        simulated=(("kernel", "n"), np.array([[True, False], [False, False]])),
        zeros=(("kernel", "n"), np.zeros((2, 2), np.int64)),
        bound=(("kernel", "n"), np.array([["fma", "l1"], ["", "dram"]])),
        limited_by=("kernel", np.array(["warps registers", "µ≤"], dtype=object)),
    ).assign_coords(label=("kernel", ["naive", "coalesced"]))
    dataset["label"].attrs.update(units="1", long_name="label")
    dataset["fma"].attrs.update(source_toy="a, p. 2", values=[1, 2.5, "x"])
    return dataset.assign_attrs(held_out=640)


def tree_of_bytes(folder):
    return {
        str(p.relative_to(folder)): p.read_bytes()
        for p in sorted(Path(folder).rglob("*"))
        if p.is_file()
    }


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def run_python(code, *arguments, **environment):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code), *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | environment,
        check=False,
    )


def test_write__reads_back_the_same(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    back = store.read(tmp_path / "a.zarr")
    xr.testing.assert_identical(back.drop_vars(["bound", "limited_by"]), example()[sorted(back)]
                                .drop_vars(["bound", "limited_by"]))  # fmt: skip
    assert back.fma.dtype == np.int64
    assert back.simulated.dtype == bool
    for name in ("bound", "limited_by", "label"):
        assert back[name].to_numpy().tolist() == example()[name].to_numpy().tolist()
        assert back[name].attrs == example()[name].attrs


def test_write__snakemake_timestamp_and_plain_open_zarr_stay_silent(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / ".snakemake_timestamp").touch()
    code = """
        import sys, xarray as xr
        from pipeline import store
        ds = xr.open_zarr(sys.argv[1] + "/a.zarr")
        print(float(ds.t.sel(kernel="k01_naive", n=128)), ds.bound.to_numpy()[0, 1])
        store.read(sys.argv[1] + "/a.zarr")
        store.open_results(sys.argv[1])["a"].load()
    """
    result = run_python(code, tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == ("0.5 l1\n", "", 0)


def test_read__loads_no_scheduler_of_dask(tmp_path):
    # Every job reads stores, and dask with its schedulers would take a third of most jobs' time.
    store.write(example(), tmp_path / "x.zarr")
    code = """
    import sys
    from pipeline import store
    store.read(sys.argv[1])
    print({"dask.array", "distributed"} & set(sys.modules))
    """
    assert run_python(code, tmp_path / "x.zarr").stdout.strip() == "set()"


def test_write__same_dataset_same_bytes(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    store.write(example(), tmp_path / "b.zarr")
    first = tree_of_bytes(tmp_path / "a.zarr")
    assert first == tree_of_bytes(tmp_path / "b.zarr")
    assert "zarr.json" in first


def test_write__hash_seed_does_not_change_the_bytes(tmp_path):
    code = """
        import sys
        from pipeline import store
        from tests.store.test_store import example
        store.write(example(), sys.argv[1])
    """
    for seed in ("1", "2"):
        result = run_python(code, tmp_path / f"{seed}.zarr", PYTHONHASHSEED=seed)
        assert result.returncode == 0, result.stderr
    assert tree_of_bytes(tmp_path / "1.zarr") == tree_of_bytes(tmp_path / "2.zarr")


def test_write__lazy_dataset_gives_the_same_bytes(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    store.write(example().chunk(), tmp_path / "b.zarr")
    assert tree_of_bytes(tmp_path / "a.zarr") == tree_of_bytes(tmp_path / "b.zarr")


def test_write__onto_the_store_it_was_opened_from(tmp_path):
    path = tmp_path / "a.zarr"
    store.write(example(), path)
    lazy = store.open_results(tmp_path)["a"].to_dataset()
    store.write(lazy.assign(t=(lazy.t + 1).assign_attrs(lazy.t.attrs)), path)
    assert store.read(path).t.to_numpy()[0, 0] == 1.5
    assert store.read(path).fma.to_numpy()[0, 0] == 2**60


def test_write__replaces_an_older_store_whole(tmp_path):
    path = tmp_path / "a.zarr"
    store.write(example(), path)
    store.write(example()[["t"]], path)
    assert list(store.read(path)) == ["t"]
    assert names(tmp_path) == ["a.zarr"]


def test_write__failure_leaves_the_older_store_alone(tmp_path, monkeypatch):
    path = tmp_path / "a.zarr"
    store.write(example(), path)
    before = tree_of_bytes(path)

    def half(dataset, *args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(xr.Dataset, "to_zarr", half)
    with pytest.raises(OSError, match="disk full"):
        store.write(example()[["t"]], path)
    assert tree_of_bytes(path) == before
    assert names(tmp_path) == ["a.zarr"]


def test_write__killed_write_leaves_no_store_and_the_next_one_sweeps(tmp_path):
    code = """
        import os, signal, sys
        import xarray as xr
        from pipeline import store
        from tests.store.test_store import example
        whole = xr.Dataset.to_zarr
        def killed(dataset, *args, **kwargs):
            whole(dataset, *args, **kwargs)
            os.kill(os.getpid(), signal.SIGKILL)
        xr.Dataset.to_zarr = killed
        store.write(example(), sys.argv[1])
    """
    result = run_python(code, tmp_path / "a.zarr")
    assert result.returncode == -signal.SIGKILL
    (left,) = names(tmp_path)
    assert left != "a.zarr"
    with pytest.raises(DataError, match="there is no result here"):
        store.open_results(tmp_path)
    store.write(example(), tmp_path / "a.zarr")
    assert names(tmp_path) == ["a.zarr"]


def test_write__leaves_the_workplace_of_a_running_process_alone(tmp_path):
    running = tmp_path / f".a.zarr.{os.getppid()}.xyz.partial"
    other_store = tmp_path / ".b.zarr.999999999.xyz.partial"
    for folder in (running, other_store):
        folder.mkdir()
    store.write(example(), tmp_path / "a.zarr")
    assert running.exists()
    assert other_store.exists()


def test_write__does_not_touch_the_dataset(tmp_path):
    dataset = example()
    store.write(dataset, tmp_path / "a.zarr")
    xr.testing.assert_identical(dataset, example())


@pytest.mark.parametrize("missing", ["units", "long_name"])
@pytest.mark.parametrize("name", ["t", "kernel"])
def test_write__refuses_an_unlabelled_variable(tmp_path, missing, name):
    dataset = example()
    del dataset[name].attrs[missing]
    with pytest.raises(DataError, match=rf"a\.zarr: variable {name} has no {missing}; add it"):
        store.write(dataset, tmp_path / "a.zarr")
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "values",
    [
        np.array([1, "x"], dtype=object),
        np.array(["x", None], dtype=object),
        np.zeros(2, np.longdouble),
        np.zeros(2, np.float16),
        np.zeros(2, complex),
        np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]"),
        np.array([1, 2], "timedelta64[ns]"),
        np.array([b"x", b"y"]),
    ],
    ids=lambda values: str(values.dtype),
)
def test_write__refuses_a_type_it_cannot_keep(tmp_path, values):
    if values.dtype == np.float64:
        pytest.skip("longdouble is float64 on this machine")
    with pytest.raises(DataError, match=r"variable x is of type .*allowed are bool, integers"):
        store.write(labelled(x=("kernel", values)), tmp_path / "a.zarr")
    assert names(tmp_path) == []


def test_write__refuses_attributes_that_are_not_plain(tmp_path):
    dataset = example().assign_attrs(source=Path("somewhere"))
    with pytest.raises(DataError, match="attribute source of the dataset is a PosixPath"):
        store.write(dataset, tmp_path / "a.zarr")


def test_write__takes_text_coordinates_of_every_kind(tmp_path):
    for kind in ("object", "str", "string"):
        dataset = labelled(t=("kernel", [0.0, 1.0]))
        index = pd.Index(["a", "ß"], dtype=kind)
        dataset = dataset.assign_coords(kernel=("kernel", index, dataset.kernel.attrs))
        store.write(dataset, tmp_path / f"{kind}.zarr")
        back = store.read(tmp_path / f"{kind}.zarr")
        assert back.kernel.to_numpy().tolist() == ["a", "ß"]
        assert float(back.t.sel(kernel="ß")) == 1.0


@pytest.mark.parametrize("kind", ["U1", np.dtypes.StringDType(), object])
def test_write__keeps_every_text_in_its_place_however_it_lies_in_memory(tmp_path, kind):
    attributes = {"units": "1", "long_name": "bound"}
    across = np.array([["a", "b", "c"], ["d", "e", "f"]]).astype(kind).T
    dataset = xr.Dataset(
        {"bound": (("n", "gpu"), across, attributes)},
        {"label": (("n", "gpu"), across[:, ::-1], attributes)},
    )
    store.write(dataset, tmp_path / "s.zarr")
    found = store.read(tmp_path / "s.zarr")
    assert found["bound"].to_numpy().tolist() == [["a", "d"], ["b", "e"], ["c", "f"]]
    assert found["label"].to_numpy().tolist() == [["d", "a"], ["e", "b"], ["f", "c"]]
    assert set(found.coords) == {"label"}


def test_write__puts_warning_filters_back(tmp_path):
    with warnings.catch_warnings():
        before = list(warnings.filters)
        store.write(example(), tmp_path / "a.zarr")
        assert list(warnings.filters) == before


def test_read__says_how_to_make_a_store_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match=r"a\.zarr: there is no store here; `snakemake "):
        store.read(tmp_path / "a.zarr")


@pytest.mark.parametrize("name", ["zeros", "t", "bound", "kernel", "method"])
def test_read__refuses_a_store_that_lost_a_chunk(tmp_path, name):
    store.write(example(), tmp_path / "a.zarr")
    for chunk in (tmp_path / "a.zarr" / name).glob("c/**/*"):
        if chunk.is_file():
            chunk.unlink()
    if name == "method":
        (tmp_path / "a.zarr" / name / "c").unlink()
    with pytest.raises(DataError, match=rf"not a whole store \(variable {name} has only 0 of 1"):
        store.read(tmp_path / "a.zarr")
    with pytest.raises(DataError, match="delete the folder and make it again"):
        store.open_results(tmp_path)


def corrupt_metadata(path):
    (path / "zarr.json").write_text("{")


def remove_metadata(path):
    (path / "zarr.json").unlink()


def truncate_chunk(path):
    (path / "t/c/0/0").write_bytes((path / "t/c/0/0").read_bytes()[:-3])


def flip_a_bit(path):
    chunk = path / "zeros/c/0/0"
    damaged = bytearray(chunk.read_bytes())
    damaged[-1] ^= 1  # in the checksum; a flip in the data shows in the same way
    chunk.write_bytes(damaged)


@pytest.mark.parametrize("damage", [corrupt_metadata, remove_metadata, truncate_chunk, flip_a_bit])
def test_read__refuses_a_damaged_store(tmp_path, damage):
    store.write(example(), tmp_path / "a.zarr")
    damage(tmp_path / "a.zarr")
    with pytest.raises(DataError, match=r"a\.zarr: this is not a whole store \("):
        store.read(tmp_path / "a.zarr")


@pytest.mark.parametrize("name", ["t", "zeros", "label"])
def test_open_zarr__notices_every_flipped_bit_of_a_chunk(tmp_path, name):
    store.write(example(), tmp_path / "a.zarr")
    chunk = next(p for p in (tmp_path / "a.zarr" / name / "c").rglob("*") if p.is_file())
    whole = chunk.read_bytes()
    variable = xr.open_zarr(tmp_path / "a.zarr", chunks=None)[name].variable
    for bit in range(0, 8 * len(whole), 3):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        chunk.write_bytes(damaged)
        with pytest.raises(ValueError, match="Stored and computed checksum do not match"):
            variable.copy().load()


def change_a_word_of_the_metadata(path):
    text = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(text.replace("what t is", "what u is"))


def swap_two_chunks(path):
    chunks = [path / f"fma/c/{number}/0" for number in (0, 1)]
    held = [chunk.read_bytes() for chunk in chunks]
    for chunk, content in zip(chunks, reversed(held), strict=True):
        chunk.write_bytes(content)


@pytest.mark.parametrize("damage", [change_a_word_of_the_metadata, swap_two_chunks])
def test_read__notices_what_zarr_cannot(tmp_path, damage):
    store.write(example().chunk(kernel=1), tmp_path / "a.zarr")
    xr.open_zarr(tmp_path / "a.zarr").load()
    damage(tmp_path / "a.zarr")
    xr.open_zarr(tmp_path / "a.zarr").load()
    for function in (store.read, store.open_lazily):
        with pytest.raises(DataError, match=r"a\.zarr: this is not a whole store \(.* was changed"):
            function(tmp_path / "a.zarr")


@pytest.mark.parametrize("name", ["a.txt", "a.zarr", "folder"])
def test_read__nothing_that_is_no_store_is_to_be_deleted(tmp_path, name):
    if name == "folder":
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text("important")
    with pytest.raises(DataError, match="this is no store") as caught:
        store.read(tmp_path / name)
    assert "delete" not in str(caught.value)


def test_open_results__a_damaged_chunk_shows_when_it_is_used_and_read_names_the_store(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    truncate_chunk(tmp_path / "a.zarr")
    tree = store.open_results(tmp_path)
    with pytest.raises((RuntimeError, ValueError)):
        tree["a"].t.compute()
    with pytest.raises(DataError, match=r"a\.zarr: this is not a whole store"):
        store.read(tmp_path / "a.zarr")


def test_read__gives_a_dataset_in_memory_that_can_be_written_again(tmp_path):
    store.write(example().chunk(kernel=1), tmp_path / "a.zarr")
    back = store.read(tmp_path / "a.zarr")
    assert back.chunks == {}
    assert all(not v.encoding for v in back.variables.values())
    store.write(back, tmp_path / "b.zarr")
    assert store.read(tmp_path / "b.zarr").identical(back)


def test_read__some_variables_with_their_coordinates_and_a_look_at_every_file(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    some = store.read(tmp_path / "a.zarr", ("t", "bound"))
    xr.testing.assert_identical(some, store.read(tmp_path / "a.zarr")[["t", "bound"]])
    flip_a_bit(tmp_path / "a.zarr")
    with pytest.raises(DataError, match="zeros"):
        store.read(tmp_path / "a.zarr", ("t", "bound"))


def test_open_results__names_every_store_and_leaves_out_intermediates(tmp_path):
    for name in ("gpus", "decode/ledger", "simulated/k01_naive", "sweeps/tiles"):
        store.write(example(), tmp_path / f"{name}.zarr")
    (tmp_path / "lecture10").mkdir()
    (tmp_path / "claims.csv").touch()
    tree = store.open_results(tmp_path)
    named = {node.path for node in tree.subtree if node.has_data}
    assert named == {"/gpus", "/decode/ledger", "/sweeps/tiles"}
    assert float(tree["decode/ledger"].t.sel(kernel="k01_naive", n=128)) == 0.5


def test_open_results__is_lazy(tmp_path):
    store.write(example(), tmp_path / "a.zarr")
    tree = store.open_results(tmp_path)
    assert tree["a"].t.chunks is not None
    assert tree["a"].label.chunks is None
    assert "naive" in repr(tree)


@pytest.mark.parametrize("exists", [True, False])
def test_open_results__says_what_to_run_when_there_is_nothing(tmp_path, exists):
    folder = tmp_path if exists else tmp_path / "results"
    with pytest.raises(DataError, match="run `snakemake all` in the project folder"):
        store.open_results(folder)


MADE_BY = {"settings": {"seed": 7}, "code": "0" * 64, "versions": {"numpy": "2.4.6"}}


def test_write__what_made_a_store_is_an_attribute_for_all_but_stages(tmp_path):
    path = tmp_path / "a.zarr"
    store.write(example(), path, MADE_BY)
    for shown in (xr.open_zarr(path), store.open_results(tmp_path)["a"]):
        assert json.loads(shown.attrs["provenance"]) == {
            "code": "0" * 64,
            "settings": {"settings": {"seed": 7}},
            "versions": {"numpy": "2.4.6"},
        }
        assert shown.attrs["held_out"] == 640
    for seen in (store.read(path), store.open_lazily(path)):
        assert seen.attrs == {"held_out": 640}


def test_write__other_code_and_the_same_numbers_have_the_same_content(tmp_path):
    made = {
        "one": (example(), MADE_BY),
        "two": (example(), MADE_BY | {"code": "1" * 64}),
        "three": (example().assign_attrs(held_out=641), MADE_BY),
    }
    for name, (dataset, made_by) in made.items():
        store.write(dataset, tmp_path / name / "a.zarr", made_by)
    content, listed = (
        {name: (tmp_path / name / "a.zarr" / file).read_text() for name in made}
        for file in (".content", ".sha256")
    )
    assert content["one"] == content["two"] != content["three"]
    assert len(set(listed.values())) == 3
