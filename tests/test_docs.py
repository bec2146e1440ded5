"""The documentation is true: its code runs and prints what stands below it, its commands answer as shown, its links
lead somewhere, its table of algorithms names every algorithm, and the examples run.

A block of Python followed at once by a block of text must print that text; `...` stands for anything, and in a block
marked "text about" numbers may be off by a tenth. Of what a command prints only the words are compared, since numbers
are seconds and bytes as often as answers.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import runpy
import shlex
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

import boxwood as bw
from boxwood import cli

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ALGORITHMS = ROOT / "docs" / "algorithms.md"

FENCE = re.compile(r"^```([\w ]*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)|<img[^>]*\ssrc=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
TOLERANCE = 0.1


class Block(NamedTuple):
    language: str  # and how exactly it is meant
    text: str
    line: int
    shown: Block | None  # the block of text that follows with nothing but an empty line between


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    blocks: list[Block] = []
    end = 0
    for match in FENCE.finditer(text):
        block = Block(match[1], match[2], text.count("\n", 0, match.start()) + 1, None)
        if block.language.startswith("text") and blocks and not text[end : match.start()].strip():
            blocks[-1] = blocks[-1]._replace(shown=block)
        blocks.append(block)
        end = match.end()
    return blocks


def prose_of(page: Path) -> str:
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def anchors_of(page: Path) -> set[str]:
    """As GitHub makes them: lower case, punctuation dropped, spaces to hyphens."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in HEADING.findall(prose_of(page))}


def prints_what_is_shown(printed: str, shown: Block) -> bool:
    if shown.language == "text":
        return doctest.OutputChecker().check_output(shown.text, printed, doctest.ELLIPSIS)
    same_words = NUMBER.sub("0", shown.text).split() == NUMBER.sub("0", printed).split()
    return same_words and numbers_in(printed) == pytest.approx(numbers_in(shown.text), rel=TOLERANCE)


def numbers_in(text: str) -> list[float]:
    return [float(number.replace(",", "")) for number in NUMBER.findall(text)]


def run_command(line: str) -> tuple[int, str]:
    """The exit code of a line `boxwood ...` and all that it prints, run in this process."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed), pytest.raises(SystemExit) as ended:
        cli.main(shlex.split(line)[1:])
    return int(ended.value.code or 0), printed.getvalue()


def words_of(text: str) -> list[str]:
    """What remains of a text without numbers, the lines of tables and the remark that kernels are compiled."""
    lines = [line for line in text.splitlines() if "compiles its kernels" not in line]
    return re.findall(r"[^\W\d_]{2,}", " ".join(lines))


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_code_and_commands_do_what_the_page_shows(page: Path):
    names: dict[str, object] = {"__name__": "__main__"}
    for block in blocks_of(page):
        where = f"{name_of(page)}:{block.line}"
        if block.language == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * block.line + block.text, str(page), "exec"), names)
            if block.shown is not None:
                assert prints_what_is_shown(printed.getvalue(), block.shown), f"{where} prints\n{printed.getvalue()}"
        elif block.language == "console":
            code = 0
            lines = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
            for shown, after in pairwise([*lines, ""]):
                line, _, wanted = shown.partition("\n")
                if line == "echo $?":
                    assert wanted.strip() == str(code), f"{where}: {line}"
                elif line.startswith("boxwood "):
                    code, printed_text = run_command(line)
                    assert words_of(wanted) == words_of(printed_text), f"{where}: {line}\n{printed_text}"
                    usual = code == (2 if wanted.startswith("boxwood: ") else 0)
                    assert usual or after.startswith("echo $?"), f"{where}: {line} ends with {code}"


def test_pages_have_code():
    shown = [name_of(page) for page in PAGES if any(block.language == "python" for block in blocks_of(page))]
    assert {"README.md", "docs/raycast.md", "docs/building.md"} <= set(shown)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path):
    broken = []
    for target in (first or second for first, second in LINK.findall(prose_of(page))):
        if target.startswith(("https://", "http://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve() if path else page
        if not there.exists() or (anchor and anchor not in anchors_of(there)):
            broken.append(target)
    assert broken == []


def test_every_page_is_on_the_map():
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / first.partition("#")[0]).resolve() for first, _ in LINK.findall(prose_of(index))}
    assert [name_of(page) for page in PAGES[1:] if page != index and page not in linked] == []


def test_every_algorithm_is_in_the_table():
    text = prose_of(ALGORITHMS)
    modules = [
        path.relative_to(ROOT).as_posix()
        for folder in ("build", "geometry", "index", "query", "tree")
        for path in sorted((ROOT / "src" / "boxwood" / folder).glob("*.py"))
        if path.name != "__init__.py"
    ]
    assert len(modules) > 20
    assert [module for module in modules if f"(../{module})" not in text] == []


def test_tests_that_the_table_names_are_there():
    text = ALGORITHMS.read_text(encoding="utf-8")
    named = re.findall(r"\[`(\w+)`\]\((\.\./tests/[\w/]+\.py)\)", text)
    assert len(named) > 10
    missing = [
        function
        for function, path in named
        if not re.search(rf"^def {function}\(", (ALGORITHMS.parent / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert missing == []


def test_public_names_are_documented():
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    members = [name for kind in (bw.Mesh, bw.BoxTree, bw.Scene) for name in dir(kind) if not name.startswith("_")]
    wanted = [*(name for name in bw.__all__ if not name.startswith("_")), *members]
    assert [name for name in wanted if not re.search(rf"\b{name}\b", text)] == []


@pytest.mark.usefixtures("empty_folder")
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_examples_run(example: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", [str(example), "--small"])
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out.strip()


def test_examples_are_told_of():
    assert len(EXAMPLES) >= 3
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [name_of(example) for example in EXAMPLES if example.name not in text] == []
