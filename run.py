"""Try boxwood from a fresh checkout: `python run.py demo`, or `python run.py test`.

The first call makes the virtual environment .venv beside this file and installs boxwood into it; later calls start at
once. What follows the word goes on to the command: `python run.py test -k rays`. Nothing but Python is needed before.
"""

import hashlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / ".venv"
PROGRAMS = ENVIRONMENT / ("Scripts" if os.name == "nt" else "bin")
SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON = PROGRAMS / f"python{SUFFIX}"
REQUIREMENTS = {"demo": ".", "test": ".[test]"}
COMMANDS = {"demo": [PROGRAMS / f"boxwood{SUFFIX}", "demo"], "test": [PYTHON, "-m", "pytest", "-n", "auto"]}


def main(arguments):
    if sys.version_info < (3, 11):
        return f"boxwood needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})"
    if not arguments or arguments[0] not in COMMANDS:
        return f"usage: python run.py {'|'.join(COMMANDS)} [options of that command]"
    os.chdir(ROOT)
    problem = install(arguments[0])
    return problem or subprocess.call([*COMMANDS[arguments[0]], *arguments[1:]])


def install(word):
    """Install what a command needs, once for each state of the project's metadata; gives what went wrong, or None."""
    metadata = (ROOT / "pyproject.toml").read_bytes() + (ROOT / "src/boxwood/__init__.py").read_bytes()
    digest = hashlib.sha256(metadata).hexdigest()
    stamp = ENVIRONMENT / f"installed-for-{word}"
    usable = PYTHON.exists() and any(ENVIRONMENT.glob("installed-for-*"))
    if usable and stamp.exists() and stamp.read_text() == digest:
        return None
    if not usable:
        if importlib.util.find_spec("ensurepip") is None:
            package = "python{}.{}-venv".format(*sys.version_info)
            return f"this Python cannot make virtual environments; on Debian and Ubuntu: apt install {package}"
        import venv

        print("boxwood: making .venv", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
    print("boxwood: installing into .venv, a minute or two the first time", flush=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable", REQUIREMENTS[word]]
    if subprocess.call(pip) != 0:
        return "boxwood: pip could not install it; its message stands above"
    stamp.write_text(digest)
    return None


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
