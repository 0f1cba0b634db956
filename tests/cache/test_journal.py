"""Keys of finished jobs outlive a run that is killed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cache.journal import Journal

NAMES = st.text(st.characters(codec="utf-8"), max_size=8)


@given(notes=st.lists(st.tuples(NAMES, NAMES)), settled=st.sets(NAMES))
def test_journal__is_read_as_it_was_left(tmp_path_factory, notes, settled):
    path = tmp_path_factory.mktemp("run") / "keys"
    journal = Journal(path)
    for name, key in notes:
        journal.note(name, key)
    # A job that begins has no key, and one that is in the manifest needs none.
    finished = {name: key for name, key in dict(notes).items() if key}
    assert Journal(path).keys == journal.keys == finished
    journal.settle(settled)
    left = {name: key for name, key in finished.items() if name not in settled}
    assert Journal(path).keys == journal.keys == left


@pytest.mark.parametrize("cut", range(2, 14))
def test_journal__a_line_that_was_cut_off_takes_no_other_with_it(tmp_path, cut):
    path = tmp_path / "keys"
    Journal(path).note("first", "a")
    Journal(path).note("second", "b")
    path.write_bytes(path.read_bytes()[:-cut])
    assert Journal(path).keys == {"first": "a"}
    Journal(path).note("third", "c")
    assert Journal(path).keys == {"first": "a", "third": "c"}


def test_journal__without_a_file_is_empty_and_makes_none(tmp_path):
    Journal(tmp_path / "run/keys").settle([])
    assert not (tmp_path / "run").exists()


def test_journal__takes_up_what_others_have_noted(tmp_path):
    one, other = Journal(tmp_path / "keys"), Journal(tmp_path / "keys")
    one.note("first", "a")
    other.note("second", "b")
    one.read()
    assert one.keys == {"first": "a", "second": "b"}
