"""What the package promises as a whole: its names, its imports, its docstrings, its size and its version."""

from __future__ import annotations
import __future__

import ast
import importlib.metadata
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import boxwood

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src" / "boxwood").rglob("*.py"))
HEAVY = "trimesh networkx lxml collada PIL rich typer safetensors matplotlib scipy.spatial open3d pyvista".split()
pytestmark = pytest.mark.small


def public_objects():
    """Every public function, class, method and property, with its dotted name."""
    for name in boxwood.__all__:
        thing = getattr(boxwood, name)
        if inspect.isclass(thing):
            yield name, thing
            own = [vars(one) for one in reversed(thing.__mro__) if one.__module__.startswith("boxwood")]
            for attribute, member in {key: value for members in own for key, value in members.items()}.items():
                described = inspect.isroutine(member) or isinstance(member, (property, classmethod, staticmethod))
                if described and not attribute.startswith("_"):
                    yield f"{name}.{attribute}", getattr(thing, attribute)
        elif callable(thing):
            yield name, thing


def imported_packages(source: Path) -> set[str]:
    """The first names of all absolute imports in a file, those inside functions included."""
    packages: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            packages.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            packages.add(node.module.split(".")[0])
    return packages


def test_public_names_are_those_in_all():
    names = {
        name
        for name, value in vars(boxwood).items()
        if not name.startswith("_") and not isinstance(value, (ModuleType, __future__._Feature))
    }
    assert names | {"__version__"} == set(boxwood.__all__)
    assert len(boxwood.__all__) == len(set(boxwood.__all__))


def test_public_objects_have_docstrings():
    objects = dict(public_objects())
    assert "Mesh.raycast" in objects
    # inspect.getdoc would borrow the docstring of a base class
    missing = [name for name, thing in objects.items() if not (getattr(thing, "__doc__", None) or "").strip()]
    assert missing == []


def test_import_leaves_heavy_modules_alone():
    code = "import sys, boxwood; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "boxwood" in loaded
    assert loaded.intersection(HEAVY) == set()


def test_only_two_modules_import_numba():
    package = ROOT / "src" / "boxwood"
    importing = [source for source in SOURCES if imported_packages(source) & {"numba", "llvmlite"}]
    importers = {source.relative_to(package).parts[0] for source in importing}
    assert importers <= {"_jit", "_simd"}
    assert "_jit" in importers


def test_source_files_are_short():
    lengths = {
        str(source.relative_to(ROOT)): len(source.read_text(encoding="utf-8").splitlines()) for source in SOURCES
    }
    assert lengths
    assert {name: length for name, length in lengths.items() if length > 400} == {}


@pytest.mark.parametrize("name", ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "src/boxwood/py.typed"])
def test_project_has(name):
    assert (ROOT / name).is_file()


def test_changelog_names_the_version():
    assert f"## {boxwood.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_installed_metadata_has_the_version():
    try:
        installed = importlib.metadata.version("boxwood")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("boxwood runs from its folder, not installed")
    assert installed == boxwood.__version__
