"""The cache of compiled kernels, in copies of the package with a small kernel more, each run in its own process."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import boxwood
from boxwood._jit import apart, generic, inline, kernel
from boxwood.query.engine import answer
from boxwood.results import Counters
from worlds import DTYPES, INTERPRETED, closed_mesh, everything

small = pytest.mark.small
compiles = pytest.mark.skipif(INTERPRETED, reason="nothing is compiled")

PROBE = """
from ._jit import kernel
from .probe_callee import value_of

@kernel
def ask(x):
    return value_of(x)
"""
CALLEE = """
from ._jit import inline

@inline
def value_of(x):
    return x + {}
"""
ASK = """
from boxwood.probe import ask
print(ask(1), sum(ask.stats.cache_hits.values()), sum(ask.stats.cache_misses.values()))
"""


class Install:
    """A copy of the package that can be changed, and its own cache."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.package = folder / "boxwood"
        self.cache = folder / "cache"
        compiled = shutil.ignore_patterns("__pycache__", "*.nb?")
        shutil.copytree(Path(boxwood.__file__).parent, self.package, ignore=compiled)
        (self.package / "probe.py").write_text(PROBE)
        self.change(10)

    def change(self, number: int) -> None:
        """Upgrade the callee alone."""
        (self.package / "probe_callee.py").write_text(CALLEE.format(number))

    def start(self, script: str = ASK, **environment: str) -> subprocess.Popen[str]:
        everything_else = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        return subprocess.Popen(
            [sys.executable, "-B", "-c", script],
            env={**everything_else, "PYTHONPATH": str(self.folder), "NUMBA_CACHE_DIR": str(self.cache), **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, script: str = ASK, **environment: str) -> tuple[list[int], str]:
        """The numbers that a script prints (the answer, loads from the cache, compilations), and its warnings."""
        return self.result(self.start(script, **environment))

    def result(self, process: subprocess.Popen[str]) -> tuple[list[int], str]:
        printed, warned = process.communicate(timeout=120)
        assert process.returncode == 0, warned
        return [int(word) for word in printed.split()], warned

    def files(self, pattern: str) -> list[Path]:
        return sorted(self.cache.rglob(pattern))


@pytest.fixture
def install(tmp_path: Path) -> Install:
    return Install(tmp_path)


@compiles
def test_a_change_in_a_callee_alone_is_compiled(install):
    assert install.ask() == ([11, 0, 1], "")
    assert install.ask() == ([11, 1, 0], "")
    install.change(20)
    assert install.ask() == ([21, 0, 1], "")
    assert install.ask() == ([21, 1, 0], "")
    assert len(install.files("*ask*.nbc")) == len(install.files("*ask*.nbi")) == 1  # the older ones are gone
    assert install.ask(NUMBA_BOUNDSCHECK="1")[0] == [21, 0, 1]  # other settings make other code


@compiles
def test_damaged_files_are_compiled_again(install):
    install.ask()
    for pattern, damaged in (
        ("*ask*.nbi", lambda content: content[: len(content) // 2]),
        ("*ask*.nbi", lambda content: b"\xff" * 99),
        ("*ask*.nbi", lambda content: b"\x80\x04N."),  # a sound pickle of something else
        ("*ask*.nbc", lambda content: content[: len(content) // 2]),
        ("*ask*.nbc", lambda content: b""),
    ):
        (path,) = install.files(pattern)
        path.write_bytes(damaged(path.read_bytes()))
        assert install.ask() == ([11, 0, 1], "")
    assert install.ask() == ([11, 1, 0], "")


@compiles
def test_no_writable_place_warns_once_and_works(install):
    """As in a read-only install without a home: a file stands wherever a folder would be made."""
    install.cache.write_text("in the way")
    for folder in (install.package, *(path for path in install.package.rglob("*") if path.is_dir())):
        (folder / "__pycache__").write_text("in the way")
    blocked = str(install.cache / "below")
    answer, warned = install.ask(NUMBA_CACHE_DIR=blocked, HOME=blocked, XDG_CACHE_HOME=blocked, LOCALAPPDATA=blocked)
    assert answer == [11, 0, 1]
    assert warned.count("cannot store compiled kernels") == 1


FOLDER_GONE = """
import pathlib, shutil
shutil.rmtree(CACHE)
pathlib.Path(CACHE).write_text("")
"""
DISK_FULL = """
import errno, os
def replace(source, target):
    raise OSError(errno.ENOSPC, "no space left on device")
os.replace = replace
"""
BEFORE_THE_FIRST_CALL = """
CACHE = {!r}
from boxwood.probe import ask
{}
print(ask(1), int(ask(1.5) == 11.5))
"""


@compiles
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(FOLDER_GONE, id="folder gone"),
        pytest.param(DISK_FULL, id="disk full"),
    ],
)
def test_a_cache_that_fails_at_the_end_warns_once_and_works(install, fault):
    answer, warned = install.ask(BEFORE_THE_FIRST_CALL.format(str(install.cache), fault))
    assert answer == [11, 1]
    assert warned.count("cannot store compiled kernels") == 1


@compiles
def test_processes_share_an_empty_cache(install):
    processes = [install.start() for _ in range(3)]
    for process in processes:
        answer, warned = install.result(process)
        assert answer[0] == 11
        assert warned == ""
    assert install.ask() == ([11, 1, 0], "")


@compiles
def test_interpreted_runs_touch_no_cache(install):
    assert install.ask("from boxwood.probe import ask; print(ask(1))", NUMBA_DISABLE_JIT="1") == ([11], "")
    assert not install.cache.exists()


@compiles
def test_arrays_of_any_kind_compile_nothing_anew():
    """Lists, strides, read-only arrays, one ray or many: the kernel gets one kind of array."""
    mesh = closed_mesh("cube", np.float64)
    origins, directions = np.zeros((6, 3)), np.ones((6, 3))
    everything(mesh, (origins, directions))
    before = len(answer.signatures)
    frozen = origins.copy()
    frozen.setflags(write=False)
    for batch in (
        (frozen, directions),
        (origins[::2], directions[::2]),
        (origins.tolist(), [1, 0, 0]),
        (np.asfortranarray(origins), directions.astype(np.float32)),
        (origins.astype(int), directions.astype(">f8")),
        (np.zeros((0, 3)), directions[:0]),
    ):
        everything(mesh, batch)
        everything(mesh, batch, t_min=0.25, t_max=np.full(len(batch[0]), 3), threads=1, cull="back")
    mesh.raycast([0, 0, 0], [0, 0, 1], t_max=5)
    assert len(answer.signatures) == before


@compiles
def test_one_kernel_for_each_dtype():
    for mesh_dtype in DTYPES:
        for ray_dtype in DTYPES:
            mesh = closed_mesh("cube", mesh_dtype)
            rays = np.zeros((2, 3), ray_dtype), np.ones((2, 3), ray_dtype)
            everything(mesh, rays)
            everything(mesh, rays, t_max=np.ones(2, ray_dtype), counters=Counters())
    assert len(answer.signatures) == 3  # meshes of two dtypes, and rays as wide or wider


class Apple(NamedTuple):
    weight: float


class Pear(NamedTuple):
    weight: float


@generic
def price(fruit, amount):
    """What so many cost."""


@price.implemented_for(Apple)
def _(fruit, amount):
    return fruit.weight * amount


@price.implemented_for(Pear)
def _(fruit, amount):
    return fruit.weight * amount * 2


@price.implemented_for(type(None))
def _(fruit, amount):
    return 0.0


@price.implemented_for(np.ndarray)
def _(fruit, amount):
    return fruit[0] * amount * 3


def price_of(fruit):
    return price(fruit, 10.0)


@small
def test_generic_functions_choose_by_the_first_type():
    import numba

    compiled = numba.njit(price_of)
    for ask in (compiled, price_of):
        assert ask(Apple(1.5)) == 15
        assert ask(Pear(1.5)) == 30
        assert ask(None) == 0
        assert ask(np.array([2.0])) == 60
    with pytest.raises((KeyError, numba.TypingError)):
        compiled(1.0)


@inline
def scaled(x, factor):
    return x * factor


@apart
def rarely(x):
    return scaled(x, 2) + max(x, 3)


def sums(x):
    return scaled(x, 5) + scaled(x, 7) + rarely(x)


@small
def test_what_kernels_call_is_compiled_once_and_has_no_machine_code_of_its_own():
    import numba

    compiled = numba.njit(sums)  # what is loaded from the disk cannot be looked into
    assert compiled(10) == kernel(sums)(10) == 150
    if not INTERPRETED and numba.version_info.short == (0, 68):
        for function in (scaled, rarely):
            (part,) = function.overloads.values()  # whatever numbers are written out
            assert part.library.get_pointer_to_function(part.fndesc.mangled_name) == 0
        (whole,) = compiled.overloads.values()
        assert whole.library.get_pointer_to_function(whole.fndesc.mangled_name) != 0


@small
def test_several_threads_at_a_kernel_s_first_call():
    @kernel
    def twice(x):
        return x * 2

    answers = []
    threads = [threading.Thread(target=lambda: answers.append(twice(21))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [42] * 4
