"""Files of arrays: what is written is read back exactly, and nothing else is read at all."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import zlib
from mmap import mmap as Mapping
from pathlib import Path

import numpy as np
import pytest

from boxwood import archive
from boxwood.archive import read_arrays, write_arrays

DTYPES = "bool i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8".split()
BOTH = pytest.mark.parametrize("mmap", [False, True], ids=["read", "mapped"])


def some_arrays(seed: int) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    arrays = {
        dtype: random.integers(0, 2, random.integers(0, 5, random.integers(0, 4))).astype(dtype) for dtype in DTYPES
    }
    return arrays | {"ü\n\"name\"": np.array([np.nan, -0.0, np.inf, 5e-324]), "empty": np.zeros((0, 3), np.float32)}


def same(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> bool:
    return list(first) == list(second) and all(
        (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        for a, b in zip(first.values(), second.values(), strict=True)
    )


@BOTH
@pytest.mark.parametrize("seed", range(5))
def test_arrays_and_text_come_back(tmp_path: Path, seed: int, mmap: bool):
    path, arrays, told = tmp_path / "a", some_arrays(seed), {"builder": "binned", "ü": "\0 \"é\"\n" * seed}
    write_arrays(path, arrays, told, "tree")
    back, text = read_arrays(path, "tree", mmap=mmap)
    assert same(arrays, back)
    assert text == told
    assert all(type(array) is np.ndarray for array in back.values())
    assert all(array.ctypes.data % 64 == 0 for array in back.values() if array.size)
    assert all(array.flags.writeable != mmap for array in back.values())


@BOTH
def test_nothing_at_all_comes_back(tmp_path: Path, mmap: bool):
    write_arrays(tmp_path / "a", {}, {}, "tree")
    assert read_arrays(tmp_path / "a", "tree", mmap=mmap) == ({}, {})


def test_any_memory_layout_is_stored(tmp_path: Path):
    grid = np.arange(24.0).reshape(4, 6)
    arrays = {"strided": grid[::2, ::-1], "columns": grid.T, "big": grid.astype(">f4"), "one": grid[0, 0]}
    write_arrays(tmp_path / "a", arrays, {}, "tree")
    back, _ = read_arrays(tmp_path / "a", "tree")
    assert all(np.array_equal(back[name], arrays[name]) for name in arrays)
    assert back["big"].dtype == np.float32
    assert back["one"].shape == ()


def test_a_mapped_file_is_used_in_place(tmp_path: Path):
    write_arrays(tmp_path / "a", {"x": np.arange(5), "y": np.ones(3)}, {}, "tree")
    arrays, _ = read_arrays(tmp_path / "a", "tree", mmap=True)
    assert all(isinstance(lowest(array).base, Mapping) for array in arrays.values())
    assert arrays["y"].ctypes.data - arrays["x"].ctypes.data == 64


def lowest(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def test_safetensors_reads_the_file(tmp_path: Path):
    library = pytest.importorskip("safetensors")
    numpy_part = pytest.importorskip("safetensors.numpy")
    arrays = some_arrays(3)
    write_arrays(tmp_path / "a.safetensors", arrays, {"unit": "mm"}, "tree")
    read = numpy_part.load_file(tmp_path / "a.safetensors")
    assert same(arrays, {name: read[name] for name in arrays})
    assert all(name.startswith("padding.") and not read[name].any() for name in set(read) - set(arrays))
    with library.safe_open(tmp_path / "a.safetensors", framework="np") as file:
        assert {"format": "boxwood", "kind": "tree", "unit": "mm"}.items() <= file.metadata().items()


def test_equal_contents_make_equal_files(tmp_path: Path):
    for name in "ab":
        write_arrays(tmp_path / name, some_arrays(1), {"x": "y"}, "tree")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_large_array_is_hashed_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archive, "BLOCK", 1000)
    write_arrays(tmp_path / "a", {"x": np.arange(10_000)}, {}, "tree")
    assert np.array_equal(read_arrays(tmp_path / "a", "tree")[0]["x"], np.arange(10_000))
    damaged = bytearray((tmp_path / "a").read_bytes())
    damaged[-1500] ^= 1
    (tmp_path / "a").write_bytes(damaged)
    with pytest.raises(ValueError, match="is damaged: its checksum"):
        read_arrays(tmp_path / "a", "tree")


@pytest.fixture
def intact(tmp_path: Path) -> tuple[Path, bytes]:
    path = tmp_path / "tree.boxwood"
    arrays = {"x": np.arange(7, dtype=np.int32), "flags": np.array([True, False]), "y": np.linspace(0, 1, 5)}
    write_arrays(path, arrays, {"leaf_size": "4"}, "tree")
    return path, path.read_bytes()


@pytest.mark.parametrize("change", [lambda b: b ^ 1, lambda b: b ^ 0xFF, lambda b: 9 if b == 32 else 32])
def test_every_changed_byte_is_noticed(intact: tuple[Path, bytes], change):
    path, data = intact
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([change(data[place])]) + data[place + 1 :])
        with pytest.raises(ValueError, match=r"tree.boxwood (is|holds) "):
            read_arrays(path, "tree", mmap=place % 2 == 0)


@BOTH
def test_every_cut_is_noticed(intact: tuple[Path, bytes], mmap: bool):
    path, data = intact
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match=r"tree.boxwood is (damaged|not a boxwood file): "):
            read_arrays(path, "tree", mmap=mmap)
    path.write_bytes(data + b"\0")
    with pytest.raises(ValueError, match="is damaged"):
        read_arrays(path, "tree", mmap=mmap)


def raw(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)
    return len(text).to_bytes(8, "little") + text + data


OURS = {"format": "boxwood", "version": "1", "kind": "tree"}


def tensor(**changes: object) -> dict[str, object]:
    return {"__metadata__": OURS, "x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]} | changes}


@BOTH
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a boxwood file"),
        (b"\xff" * 100, "not a boxwood file"),
        (b"\0" * 100, "not a boxwood file"),
        (zlib.compress(b"x" * 999) * 9, "not a boxwood file"),
        ((2**62).to_bytes(8, "little") + b"{}", "not a boxwood file"),
        (raw(b"[" * 100_000), "not a boxwood file"),
        (raw([1]), "not a boxwood file"),
        (raw({"__metadata__": 3}), "not a boxwood file"),
        (raw({"__metadata__": {"format": "pt"}}), "not a boxwood file"),
        (raw({"x": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1]}}, b"1"), "not a boxwood file"),
        (raw({"__metadata__": OURS | {"version": "2"}}), "is of version '2', and this boxwood reads version '1'"),
        (raw({"__metadata__": OURS | {"kind": "boxes"}}), "holds 'boxes', not 'tree'"),
        (raw({"__metadata__": OURS}), "is damaged"),  # no checksum
        (raw(tensor(), b"1"), "is damaged"),
        (raw(tensor(dtype="F8_E5M2"), b"1"), "is damaged"),
        (raw(tensor(dtype=[]), b"1"), "is damaged"),
        (raw(tensor(shape=[-1]), b"1"), "is damaged"),
        (raw(tensor(shape=[True]), b"1"), "is damaged"),
        (raw(tensor(shape=[1.0]), b"1"), "is damaged"),
        (raw(tensor(shape=5), b"1"), "is damaged"),
        (raw(tensor(shape=[10**30], data_offsets=[0, 10**30]), b"1"), "is damaged"),
        (raw(tensor(shape=[0, 10**30], data_offsets=[0, 0])), "is damaged"),
        (raw(tensor(data_offsets=[1, 2]), b"11"), "is damaged"),
        (raw(tensor() | {"y": None}, b"1"), "is damaged"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, data: bytes, message: str, mmap: bool):
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(ValueError, match=message):
        read_arrays(tmp_path / "a", "tree", mmap=mmap)


@BOTH
def test_the_ordinary_errors_of_the_system(tmp_path: Path, mmap: bool):
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "none", "tree", mmap=mmap)
    with pytest.raises(OSError, match=str(tmp_path)):
        read_arrays(tmp_path, "tree", mmap=mmap)


@pytest.mark.parametrize(
    ("arrays", "metadata", "message"),
    [
        ({"x": np.array([1j])}, {}, "array 'x' has dtype complex128"),
        ({"x": np.array(["a"])}, {}, "array 'x' has dtype <U1"),
        ({"padding.0": np.zeros(1)}, {}, "cannot be named 'padding.0'"),
        ({"__metadata__": np.zeros(1)}, {}, "cannot be named '__metadata__'"),
        ({}, {"kind": "x"}, "metadata 'kind'"),
        ({}, {"leaf_size": 4}, "metadata 'leaf_size'"),
    ],
)
def test_what_a_file_cannot_hold(tmp_path: Path, arrays, metadata, message: str):
    with pytest.raises(ValueError, match=message):
        write_arrays(tmp_path / "a", arrays, metadata, "tree")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
@pytest.mark.parametrize("function", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(intact: tuple[Path, bytes], monkeypatch, error: BaseException, function: str):
    path, data = intact

    def fail(*_):
        raise error

    monkeypatch.setattr(os, "fsync", fail) if function == "fsync" else monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(type(error), match="tree.boxwood" if isinstance(error, OSError) else None) as caught:
        write_arrays(path, {"x": np.zeros(9)}, {}, "tree")
    assert not isinstance(error, OSError) or caught.value.errno == 28
    assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="no resource limits")
def test_a_full_disk_leaves_the_old_file(intact: tuple[Path, bytes]):
    path, data = intact
    code = (
        "import resource, sys, numpy, boxwood.archive as archive\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: archive.write_arrays(sys.argv[1], {'x': numpy.zeros(1_000_000)}, {}, 'tree')\n"
        "except OSError as error: print(error)"
    )
    run = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert "File too large" in run.stdout
    assert str(path) in run.stdout
    assert path.read_bytes() == data
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_missing_or_closed(tmp_path: Path):
    with pytest.raises(FileNotFoundError, match=r"none.a\b"):
        write_arrays(tmp_path / "none" / "a", {}, {}, "tree")
    with pytest.raises(OSError, match=str(tmp_path)):
        write_arrays(tmp_path, {}, {}, "tree")
    assert list(tmp_path.iterdir()) == []
    if os.name == "posix" and os.geteuid() != 0:  # root may write anywhere
        tmp_path.chmod(0o500)
        with pytest.raises(PermissionError, match="/a'"):
            write_arrays(tmp_path / "a", {}, {}, "tree")


@pytest.mark.skipif(os.name != "posix", reason="permission bits")
def test_a_new_file_has_the_permissions_of_any_other(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write_arrays(tmp_path / "a", {}, {}, "tree")
        (tmp_path / "b").touch()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in "ab"]
    assert modes == [0o640, 0o640]


@pytest.mark.skipif(os.name != "posix", reason="links need a privilege")
def test_a_link_is_written_through(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "a")
    write_arrays(tmp_path / "link", {"x": np.arange(3)}, {}, "tree")
    assert (tmp_path / "link").is_symlink()
    assert np.array_equal(read_arrays(tmp_path / "real" / "a", "tree")[0]["x"], [0, 1, 2])


def test_a_mapped_file_outlives_its_replacement(tmp_path: Path):
    if sys.platform == "win32":
        pytest.skip("a mapped file cannot be replaced")
    write_arrays(tmp_path / "a", {"x": np.arange(1000)}, {}, "tree")
    old, _ = read_arrays(tmp_path / "a", "tree", mmap=True)
    write_arrays(tmp_path / "a", {"x": np.zeros(5)}, {}, "tree")
    assert np.array_equal(old["x"], np.arange(1000))
