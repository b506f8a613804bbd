"""From a clean checkout to a running command, with nothing but Python.

    check Python -> make .venv -> install the hash-locked list -> write a stamp -> go on as the environment's Python

`python3 -m service` and `python3 -m tests` begin here. A good stamp makes all but the last step unnecessary, and inside the
environment that one too. Only a source checkout (a `pyproject.toml` beside the package) is ever touched: an installed package
passes through. All words go to standard error. A `.venv` made by other means is used where it fits, and refused, not deleted,
where it does not. Killed at any moment, a start leaves no stamp, and no other begins before the last of its installers has ended.

The file parses on Python 3.6 and imports the standard library alone, the larger parts of it only when there is work to do.
"""

import os
import sys

OLDEST = (3, 11)
NEWEST_TRIED = (3, 20)  # how far PATH is searched for a newer Python than one that is too old
CHECKOUT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUNTIME = "requirements.lock"
DEVELOPMENT = "requirements-dev.lock"  # holds all of RUNTIME, in the same versions
UNFINISHED = "unfinished"  # what `.venv.lock` says while an environment of ours is being made


class StartError(Exception):
    """The command cannot go on; the message is a sentence for the person who typed it."""


def enter(package: str, lock: str, arguments: "list[str]") -> None:
    """Return when this process has the packages of `lock`; else provide them and run `package` anew in place of this process."""
    try:
        check_python()
        if not os.path.exists(os.path.join(CHECKOUT, "pyproject.toml")):
            return
        environment = Environment(CHECKOUT)
        if not environment.serves(lock):
            environment.build(lock)
        elif environment.is_running():
            return
        environment.run(package, arguments)
    except StartError as error:
        say(str(error))
        sys.exit(2)
    except OSError as error:
        say(f"the environment cannot be prepared: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        say("interrupted; the next start mends what is half done")
        sys.exit(130)


def say(sentence: str) -> None:
    print(f"roofline: {sentence}", file=sys.stderr, flush=True)


def check_python() -> None:
    """Refuse a Python that is too old, naming a newer one if PATH has it."""
    if os.name != "posix":
        raise StartError("this runs on Linux and macOS; on Windows use WSL or the container image")
    if sys.version_info[:2] < OLDEST:
        newer = find_newer()
        advice = f"; {newer} is on PATH: use that in its place" if newer else ""
        raise StartError(f"Python {OLDEST[0]}.{OLDEST[1]} or newer is needed, and this is {version()} ({sys.executable}){advice}")


def find_newer() -> str:
    """The name of a new enough Python on PATH that also runs (a version manager's may not), or an empty string."""
    import shutil
    import subprocess

    for minor in range(OLDEST[1], NEWEST_TRIED[1] + 1):
        name = f"python{OLDEST[0]}.{minor}"
        if shutil.which(name) and subprocess.call([name, "-c", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0:
            return name
    return ""


def version() -> str:
    """The Python that runs, as in 3.11.7."""
    return ".".join(str(part) for part in sys.version_info[:3])


class Environment:
    """The `.venv` of a checkout. Its stamp says from what it was built, and is there only when that came to its end."""

    def __init__(self, checkout: str) -> None:
        self.checkout = checkout
        self.folder = os.path.join(checkout, ".venv")
        self.python = os.path.join(self.folder, "bin", "python")
        self.stamp = os.path.join(self.folder, "roofline-stamp")
        self.progress = os.path.join(checkout, ".venv.lock")
        # An environment that was copied or moved says its old place here, as its scripts do, and is made anew.
        self.origin = f"checkout {self.folder}"

    def is_running(self) -> bool:
        """Whether this process is the environment's own Python."""
        return os.path.realpath(sys.prefix) == os.path.realpath(self.folder)

    def serves(self, lock: str) -> bool:
        """Whether the environment was built from `lock` as it stands; the development list serves as the runtime list too."""
        stamp = read_lines(self.stamp)
        if stamp[:1] != [self.origin] or not os.path.exists(self.python):
            return False
        if self.is_running() and stamp[1] != f"python {version()}":
            return False  # the system's Python was upgraded underneath
        return self.digest(lock) in stamp or self.digest(DEVELOPMENT) in stamp

    def digest(self, lock: str) -> str:
        """The stamp's line for a list: its name and the SHA-256 of its text."""
        import hashlib

        with open(os.path.join(self.checkout, lock), "rb") as file:
            return f"{lock} {hashlib.sha256(file.read()).hexdigest()}"

    def build(self, lock: str) -> None:
        """Make the environment serve `lock`. One process at a time: a second one waits and finds the work done.

        The turn passes on to the programs that are run meanwhile: they keep it when this process is killed and they are not.
        """
        import fcntl

        with open(self.progress, "a") as turn:
            os.set_inheritable(turn.fileno(), True)
            try:
                fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("waiting for another start that is preparing .venv")
                fcntl.flock(turn, fcntl.LOCK_EX)
            if not self.serves(lock):
                digest = self.digest(lock)
                is_ours = self.prepare()
                self.install(lock, anew=not is_ours)
                self.connect()
                self.write_stamp(digest)
                write(self.progress, "")

    def prepare(self) -> bool:
        """Leave an environment without a stamp, into which the list can be installed. Return whether it is ours to make anew."""
        stamp = read_lines(self.stamp)
        is_ours = bool(stamp) or read_lines(self.progress) == [UNFINISHED] or not os.path.lexists(self.folder)
        fits = self.fits()
        if is_ours:
            write(self.progress, UNFINISHED)
        elif not fits:
            raise StartError(f"{self.folder} was made by other means and does not fit Python {version()}: move it away")
        if is_ours and not (fits and stamp[:1] == [self.origin]):
            self.make()
        elif stamp:
            os.remove(self.stamp)
        return is_ours

    def fits(self) -> bool:
        """Whether an environment of this Python is there, with something to install by."""
        import shutil

        settings = read_lines(os.path.join(self.folder, "pyvenv.cfg"))
        made_with = [line.split("=")[1].strip() for line in settings if line.startswith("version")]
        has_installer = shutil.which("uv") or os.path.exists(os.path.join(self.folder, "bin", "pip"))
        return made_with == [version()] and os.path.exists(self.python) and bool(has_installer)

    def make(self) -> None:
        """An empty environment, in place of what an earlier start left."""
        import shutil

        say(f"making .venv with Python {version()}")
        shutil.rmtree(self.folder, ignore_errors=True)
        base = getattr(sys, "_base_executable", None) or sys.executable
        uv = shutil.which("uv")
        if uv:
            run([uv, "venv", "--quiet", "--python", base, self.folder], "the environment cannot be made")
        else:
            require_venv()
            run([base, "-m", "venv", self.folder], "the environment cannot be made")

    def install(self, lock: str, *, anew: bool) -> None:
        """Install the list, every file checked against its hash; `anew` also what is there already, whole or half."""
        import shutil

        say(f"installing the packages of {lock}")
        uv = shutil.which("uv")
        installer = [uv, "pip"] if uv else [self.python, "-m", "pip", "--disable-pip-version-check"]
        options = ["--quiet", "--require-hashes", "-r", os.path.join(self.checkout, lock)]
        options += ["--reinstall" if uv else "--force-reinstall"] if anew else []
        target = ["--python", self.python] if uv else ["--no-compile"]
        run([*installer, "install", *target, *options], f"the packages of {lock} cannot be installed")

    def connect(self) -> None:
        """Let the environment import the checkout from any folder, and put `roofline` beside its Python."""
        import shlex

        packages = os.path.join(self.folder, "lib", "python{}.{}".format(*sys.version_info), "site-packages")
        write(os.path.join(packages, "roofline-checkout.pth"), f"{self.checkout}\n")
        launcher = os.path.join(self.folder, "bin", "roofline")
        write(launcher, f'#!/bin/sh\nexec {shlex.quote(self.python)} -P -m service "$@"\n')
        os.chmod(launcher, 0o755)

    def write_stamp(self, digest: str) -> None:
        """Last of all, and at once: a stamp that is there is whole."""
        write(f"{self.stamp}.new", f"{self.origin}\npython {version()}\n{digest}\n")
        os.replace(f"{self.stamp}.new", self.stamp)
        say("ready")

    def run(self, package: str, arguments: "list[str]") -> None:
        """Become the environment's Python, running `package`."""
        os.environ.pop("PYTHONHOME", None)  # it would keep that Python from its packages
        # -P: what is named `service` or `tests` in the caller's folder is not ours.
        os.execv(self.python, [self.python, "-P", "-m", package, *arguments])


def read_lines(path: str) -> "list[str]":
    """The lines of a text file; none when it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


def write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def require_venv() -> None:
    """Refuse a Python whose distribution split off the parts that make environments, naming the package that has them."""
    import importlib.util

    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        package = "python{}.{}-venv".format(*sys.version_info)
        advice = f"on Debian and Ubuntu `apt-get install {package}` brings them, or put uv on PATH"
        raise StartError(f"this Python ({sys.executable}) has no venv or no pip: {advice}")


def run(command: "list[str]", failure: str) -> None:
    """Run one step, which holds the turn too. Its words go to standard error; standard output belongs to what was asked for."""
    import subprocess

    status = subprocess.call(command, stdout=sys.stderr, stdin=subprocess.DEVNULL, close_fds=False)
    if status != 0:
        raise StartError(f"{failure} ({os.path.basename(command[0])} ended with status {status}); the next start tries again")
