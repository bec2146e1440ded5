"""Named arrays in one safetensors file: written whole or not at all, read back exactly or not at all.

The file is what any safetensors reader expects (a length, a JSON header, bytes without gaps), but laid out here: every
array begins on a cache line, with tensors named `padding.N` between them, so that a mapped file is used in place.
Arrays have exactly one layout, which a reader builds again and compares; a checksum covers all else.
Source: the format section of the safetensors documentation.
"""

from __future__ import annotations

import json
import math
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ._threads import run_chunks

Array: TypeAlias = NDArray[Any]
Bytes: TypeAlias = NDArray[np.uint8]
StrPath: TypeAlias = str | os.PathLike[str]
Tensor: TypeAlias = tuple[str, str, Sequence[int]]  # name, dtype as safetensors writes it, shape

FORMAT, VERSION = "boxwood", "1"
OWN_KEYS = ("format", "version", "kind", "checksum")
ALIGNMENT = 64
PADDING = "padding."
BLOCK = 1 << 22  # bytes hashed by one thread at a time
DTYPES = {
    "BOOL": "|b1", "U8": "|u1", "I8": "|i1", "U16": "<u2", "I16": "<i2", "F16": "<f2",
    "U32": "<u4", "I32": "<i4", "F32": "<f4", "U64": "<u8", "I64": "<i8", "F64": "<f8",
}  # fmt: skip
NAMES = {numpy_name: name for name, numpy_name in DTYPES.items()}


def write_arrays(path: StrPath, arrays: Mapping[str, Array], metadata: Mapping[str, str], kind: str) -> None:
    """Write arrays and text to a file that takes the place of `path` once all of it is on the disk.

    Parameters
    ----------
    path : file to write; its folder must exist.
    arrays : any shape; bool, integer or float of at most 64 bits; stored little-endian, in this order.
    metadata : text by name; `format`, `version`, `kind` and `checksum` are kept for this module.
    kind : what the file is, to be named again when it is read.

    Raises
    ------
    OSError
        If it cannot be written (no folder, no permission, disk full). As after any other failure, Ctrl-C included, a
        file that was there before is untouched, and nothing new is left.
    ValueError
        For a dtype or a name that such a file cannot hold.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(f"{folder}/a.boxwood", {"x": np.arange(3)}, {"unit": "mm"}, "example")
    ...     read_arrays(f"{folder}/a.boxwood", "example")
    ({'x': array([0, 1, 2])}, {'unit': 'mm'})
    """
    tensors, contents = [], {}
    for name, array in arrays.items():
        dtype = np.dtype(array.dtype).newbyteorder("<").str
        if dtype not in NAMES:
            raise ValueError(f"array {name!r} has dtype {array.dtype}, which a file cannot hold")
        if name.startswith(PADDING) or name == "__metadata__":
            raise ValueError(f"an array cannot be named {name!r}")
        tensors.append((name, NAMES[dtype], array.shape))
        contents[name] = np.ascontiguousarray(array, dtype).reshape(-1).view(np.uint8)
    for key, text in metadata.items():
        if key in OWN_KEYS or not isinstance(text, str):
            raise ValueError(f"metadata {key!r} must be text, under a name other than {', '.join(OWN_KEYS)}")
    entries = _layout(tensors)
    pieces = [contents.get(name, np.zeros(stop - start, np.uint8)) for name, (start, stop) in _offsets(entries)]
    told = {**metadata, "format": FORMAT, "version": VERSION, "kind": kind}
    told["checksum"] = _checksum(_header(entries, told), pieces)
    header = _header(entries, told)
    with replacing(path) as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for piece in pieces:
            file.write(piece.data)


def read_arrays(path: StrPath, kind: str, *, mmap: bool = False) -> tuple[dict[str, Array], dict[str, str]]:
    """Read back what `write_arrays` wrote, exactly.

    Parameters
    ----------
    path : file to read.
    kind : what the file must be.
    mmap : leave the arrays in the file, read-only, where processes that map it share one copy in memory. The file is
        read through once all the same, since its checksum is verified.

    Returns
    -------
    The arrays by name, each beginning at a multiple of 64 bytes, and the metadata.

    Raises
    ------
    OSError
        If the file cannot be opened.
    ValueError
        If it is anything but an intact file of this kind and of a known version; names the file and the reason.
    """
    whole = _mapped(Path(path)) if mmap else _loaded(Path(path))
    try:
        return _unpack(whole, kind)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)} {error}") from None


def kind_of(path: StrPath) -> str:
    """What the file says that it is; nothing where it is no such file, and nothing of it is checked.

    OSError if it cannot be opened.
    """
    with Path(path).open("rb") as file:
        try:
            size = min(int.from_bytes(file.read(8), "little"), os.fstat(file.fileno()).st_size)
            told = json.loads(file.read(size))["__metadata__"]
            return str(told["kind"]) if told["format"] == FORMAT else ""
        except (ValueError, RecursionError, LookupError, TypeError):
            return ""


def _unpack(whole: Bytes, kind: str) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays, as views, and the metadata; ValueError without the file's name."""
    begin = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    if len(whole) < max(begin, 9):
        raise ValueError("is not a boxwood file: it is empty or its header is cut off")
    header = whole[8:begin].tobytes()
    try:
        entries = json.loads(header)
        told = entries.pop("__metadata__")
        ours = told["format"] == FORMAT
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        ours = False
    if not ours:
        raise ValueError("is not a boxwood file: its header is another or damaged")
    if told.get("version") != VERSION:
        raise ValueError(f"is of version {told.get('version')!r}, and this boxwood reads version {VERSION!r}")
    if told.get("kind") != kind:
        raise ValueError(f"holds {told.get('kind')!r}, not {kind!r}")
    try:
        described = [(name, entry["dtype"], entry["shape"]) for name, entry in entries.items()]
        tensors = [tensor for tensor in described if not tensor[0].startswith(PADDING)]
        entries = _layout(tensors)  # and not what the file says: it is compared
        if header != _header(entries, told):
            raise ValueError("header")
        end = begin + max((stop for _, (_, stop) in _offsets(entries)), default=0)
        if len(whole) != end:
            raise ValueError("size")
        views = {name: whole[begin + start : begin + stop] for name, (start, stop) in _offsets(entries)}
        arrays = {name: views[name].view(DTYPES[dtype]).reshape(tuple(shape)) for name, dtype, shape in tensors}
    except (ValueError, LookupError, TypeError, OverflowError):
        raise ValueError("is damaged: its header does not describe its contents, or they are cut off") from None
    if told.pop("checksum", None) != _checksum(_header(entries, told), list(views.values())):
        raise ValueError("is damaged: its checksum is another")
    return arrays, {key: text for key, text in told.items() if key not in OWN_KEYS}


def _layout(tensors: Sequence[Tensor]) -> dict[str, dict[str, Any]]:
    """The entries of the header: each tensor at a multiple of 64 bytes, padding before it, as gaps are forbidden."""
    entries: dict[str, dict[str, Any]] = {}
    end = 0
    for name, dtype, shape in tensors:
        if not all(type(length) is int and length >= 0 for length in shape):
            raise ValueError("shape")
        start = end + -end % ALIGNMENT
        if start > end:
            entries[f"{PADDING}{len(entries)}"] = {"dtype": "U8", "shape": [start - end], "data_offsets": [end, start]}
        end = start + np.dtype(DTYPES[dtype]).itemsize * math.prod(shape)
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    return entries


def _offsets(entries: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, tuple[int, int]]]:
    return [(name, entry["data_offsets"]) for name, entry in entries.items()]


def _header(entries: Mapping[str, Mapping[str, Any]], told: Mapping[str, str]) -> bytes:
    """Filled with spaces, so that what follows it and its length begins on a cache line."""
    text = json.dumps({"__metadata__": told, **entries}, separators=(",", ":")).encode()
    return text + b" " * (-(8 + len(text)) % ALIGNMENT)


def _checksum(header: bytes, pieces: Sequence[Bytes]) -> str:
    """A digest of the header and of the digests of all blocks.

    BLAKE2b: 128 bits leave nothing to chance where 32 bits of CRC would pass one damaged file in four thousand million,
    it ships with Python, and on several threads it is no slower than reading the file.
    """
    blocks = [piece[start : start + BLOCK] for piece in pieces for start in range(0, len(piece), BLOCK)]

    def digests(start: int, stop: int) -> bytes:
        return b"".join(blake2b(block.data, digest_size=16).digest() for block in blocks[start:stop])

    return blake2b(header + b"".join(run_chunks(digests, len(blocks), chunk=1)), digest_size=16).hexdigest()


def _mapped(path: Path) -> Bytes:
    if path.stat().st_size == 0:  # which cannot be mapped
        return np.empty(0, np.uint8)
    return np.asarray(np.memmap(path, np.uint8, "r"))


def _loaded(path: Path) -> Bytes:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        space = np.empty(size + ALIGNMENT, np.uint8)
        start = -space.ctypes.data % ALIGNMENT
        whole = space[start : start + size]
        return whole[: file.readinto(whole.data)]


@contextmanager
def replacing(path: StrPath) -> Iterator[BinaryIO]:
    """A file to write that replaces `path` when the block ends well, and is gone when it does not."""
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")  # in the same folder, so that replacing is one step
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno:  # name the file that was asked for, not the temporary one
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise
