"""Compilation of kernels: `kernel` for entries, `inline` and `apart` for what they call, `generic` to choose by type.

Numba compiles each entry once per argument types and keeps the machine code on disk. The cache is
keyed here by a digest of the whole package, because Numba alone looks only at the file of the entry
and would run stale code after a change in a function that the entry calls.
With ``NUMBA_DISABLE_JIT=1`` everything stays plain Python.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import pathlib
import re
import threading
import warnings

import numba
import numpy as np
from numba.core.caching import IndexDataCacheFile
from numba.extending import overload

INTERPRETED = bool(numba.config.DISABLE_JIT)
BOUNDS_CHECKED = bool(numba.config.BOUNDSCHECK)

if numba.version_info.short == (0, 68):
    from .compiler import KernelCompiler, PartCompiler

    _OF_KERNELS, _OF_PARTS = {"pipeline_class": KernelCompiler}, {"pipeline_class": PartCompiler}
else:  # it is made of Numba's own parts, which another version may have changed: all works without it, but waits longer
    _OF_KERNELS, _OF_PARTS = {}, {}

_OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Without wrappers for Python, compilation takes a third less. Without reference counts on the arrays that a function
# is given, rays are a third faster.
_CALLED_BY_KERNELS = {**_OPTIONS, "no_cpython_wrapper": True, "_nrt": False, **_OF_PARTS}


def _digest():
    """Of every source file of the package, and of the settings that change compiled code."""
    package = pathlib.Path(__file__).parents[1]
    content = hashlib.sha256(f"bounds checked: {BOUNDS_CHECKED}".encode())
    for path in sorted(package.rglob("*.py")):
        content.update(path.relative_to(package).as_posix().encode())
        content.update(path.read_bytes())
    return content.hexdigest()[:16]


class _CacheFile(IndexDataCacheFile):
    """Machine code on disk, one set of files per digest; a broken one costs time, never an answer."""

    def __init__(self, cache_path, filename_base, digest):
        super().__init__(cache_path, f"{filename_base}.{digest}", digest)
        self._older = re.sub(r"-\d+\.", "-*.", filename_base) + ".*"  # wherever in its file the function stood

    def load(self, key):
        try:
            return super().load(key)
        except Exception:  # a truncated or foreign pickle can raise anything
            return None

    def save(self, key, data):
        super().save(key, data)
        self._remove_older()

    def _load_index(self):
        try:
            return super()._load_index()
        except Exception:
            return {}

    def _remove_older(self):
        for path in pathlib.Path(self._cache_path).glob(self._older):
            if self._source_stamp not in path.name:
                path.unlink(missing_ok=True)


@functools.cache  # once
def _warn_uncached():
    warnings.warn(
        "boxwood cannot store compiled kernels, so every process compiles them anew; "
        "set NUMBA_CACHE_DIR to a writable folder",
        RuntimeWarning,
        stacklevel=2,
    )


_DIGEST = "" if INTERPRETED else _digest()

_INLINE = {**_CALLED_BY_KERNELS, "forceinline": True}


def inline(function):
    """Compile a function that becomes part of each kernel that calls it. It neither makes nor returns arrays:
    only kernels do."""
    return _once_per_types(numba.njit(**_INLINE)(function))


def apart(function):
    """Likewise for what kernels call seldom: the compiler may leave it out of their loops. Unless told that it need
    not be part of its callers, Numba would make it so wherever an `inline` function calls it."""
    return _once_per_types(numba.njit(**_CALLED_BY_KERNELS, forceinline=False)(function))


def _once_per_types(compiled):
    """Numba would compile it anew for each number that callers write out as an argument."""
    if INTERPRETED:
        return compiled
    template_for = compiled.get_call_template

    def get_call_template(arguments, keywords):
        return template_for(tuple(numba.types.unliteral(one) for one in arguments), keywords)

    compiled.get_call_template = get_call_template
    return compiled


def _apart_from_ctrl_c(work):
    """Have the work done by a thread that Ctrl-C does not reach, and wait for it.

    An exception in the middle of LLVM would leave its lock held for ever. Interrupted, the work goes on to its end
    in the background, and what it compiled is there at the next call. Meanwhile no garbage is collected: looking
    through all that the compiler makes, for nothing, takes a tenth of its time.
    """

    @functools.wraps(work)
    def elsewhere(*arguments, **keywords):
        if threading.current_thread() is not threading.main_thread():
            return work(*arguments, **keywords)
        outcome = []

        def attempt():
            collecting = gc.isenabled()
            gc.disable()
            try:
                outcome.append((work(*arguments, **keywords), None))
            except BaseException as error:  # raised where it was asked for
                outcome.append((None, error))
            finally:
                if collecting:
                    gc.enable()

        helper = threading.Thread(target=attempt)
        helper.start()
        helper.join()
        result, error = outcome[0]
        if error is not None:
            raise error
        return result

    return elsewhere


def kernel(function):
    """Compile an entry that Python calls, and keep the machine code on disk."""
    compiled = numba.njit(**_OPTIONS, **_OF_KERNELS)(function)
    if INTERPRETED:
        return compiled
    compiled._compile_for_args = _apart_from_ctrl_c(compiled._compile_for_args)
    try:
        compiled.enable_caching()
    except RuntimeError:  # no place on disk can be written
        _warn_uncached()
        return compiled
    cache = compiled._cache
    cache._cache_file = _CacheFile(cache._cache_path, cache._impl.filename_base, _DIGEST)
    store = cache.save_overload

    def store_if_possible(signature, result):
        try:
            store(signature, result)
        except Exception:  # no folder, no room, or what is there is not ours
            _warn_uncached()

    cache.save_overload = store_if_possible
    return compiled


def _python_type(numba_type):
    if isinstance(numba_type, numba.types.NoneType):
        return type(None)
    if isinstance(numba_type, numba.types.Array):
        return np.ndarray
    return getattr(numba_type, "instance_class", None)


def generic(declaration):
    """A function whose implementation is chosen by the type of its first argument, at compile time.

    Like `inline`, implementations neither make arrays nor return any: references to them are not counted.

    `@name.implemented_for(Type)` registers one for a NamedTuple class, for `np.ndarray`, or for `type(None)`.
    """
    implementations = {}

    @functools.wraps(declaration)
    def dispatch(*arguments):
        return implementations[type(arguments[0])](*arguments)

    @overload(dispatch, strict=False, jit_options=_INLINE)
    def choose(*argument_types):
        return implementations.get(_python_type(argument_types[0]))

    def implemented_for(python_type):
        def register(implementation):
            implementations[python_type] = implementation
            return implementation

        return register

    dispatch.implemented_for = implemented_for
    return dispatch
