"""Sandboxes, child processes, contents and the report of checks: shared by all check scripts.

A check is a function that gets a `Box` and raises `Failed` (by `expect`) when something is not as it should be.
"""
import atexit
import ctypes
import fnmatch
import hashlib
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
PARTIAL_SUFFIXES = (".part", ".part.haul")


class Failed(Exception):
    """Something is not as it should be; the message says what."""


def expect(condition, message):
    """Fails the check unless the condition holds."""
    if not condition:
        raise Failed(message)


def haul_command():
    """The command under test, as a list: $HAUL, or the release build of this repository."""
    value = os.environ.get("HAUL")
    command = shlex.split(value) if value else [os.path.join(ROOT, ".build", "release", "haul")]
    if os.sep in command[0]:
        command[0] = os.path.abspath(command[0])
    return command


def require_haul():
    """Ends the script with a message when there is no command to test."""
    if shutil.which(haul_command()[0]) is None:
        sys.exit("no executable %s; build it, or name it in HAUL" % haul_command()[0])


# ---------------------------------------------------------------- contents
class Content:
    """Bytes that depend on their position, so that any splice, hole or shift shows in the digest."""

    BLOCK = 64 * KIB

    def __init__(self, name, size):
        self.name, self.size = name, size
        self._lock = threading.Lock()
        self._blocks = {}
        self._digest = None
        self.tag = hashlib.sha256(("%s:%d" % (name, size)).encode()).hexdigest()[:12]

    def _block(self, index):
        with self._lock:
            block = self._blocks.get(index)
            if block is None:
                block = random.Random("%s/%d" % (self.name, index)).randbytes(self.BLOCK)
                self._blocks[index] = block
            return block

    def read(self, start, count):
        """The bytes of [start, start + count), cut at the end of the content."""
        end = min(self.size, start + count)
        parts = []
        while start < end:
            index, offset = divmod(start, self.BLOCK)
            piece = self._block(index)[offset:offset + end - start]
            parts.append(piece)
            start += len(piece)
        return b"".join(parts)

    def all(self):
        """The whole content; for small ones."""
        return self.read(0, self.size)

    @property
    def sha256(self):
        if self._digest is None:
            digest = hashlib.sha256()
            for start in range(0, self.size, MIB):
                digest.update(self.read(start, MIB))
            self._digest = digest.hexdigest()
        return self._digest

    def write_to(self, path):
        """Stores the content in a file."""
        with open(path, "wb") as file:
            for start in range(0, self.size, MIB):
                file.write(self.read(start, MIB))


class Text:
    """A content given as bytes."""

    def __init__(self, data, tag="text"):
        self.data, self.size, self.tag, self.name = data, len(data), tag, tag
        self.sha256 = hashlib.sha256(data).hexdigest()

    def read(self, start, count):
        return self.data[start:start + count]

    def all(self):
        return self.data


def file_sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(MIB):
            digest.update(piece)
    return digest.hexdigest()


# ---------------------------------------------------------------- children
_children = set()
_sandboxes = set()
_guard = threading.Lock()
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent():
    _libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: no server outlives a killed script


def spawn(argv, **options):
    """Starts a child in a session of its own that ends with this script."""
    extra = options.pop("preexec_fn", None)

    def before():
        _die_with_parent()
        if extra:
            extra()

    child = subprocess.Popen(argv, start_new_session=True, preexec_fn=before, **options)
    with _guard:
        _children.add(child)
    return child


def stop(child, patience=5.0):
    """Ends a child and what it started: SIGTERM, then SIGKILL to its own session."""
    if child.poll() is None:
        child.terminate()
        try:
            child.wait(patience)
        except subprocess.TimeoutExpired:
            pass
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.wait()
    with _guard:
        _children.discard(child)


def _clean_up():
    for child in list(_children):
        try:
            stop(child, 1.0)
        except Exception:  # the script ends: try the others
            pass
    for sandbox in list(_sandboxes):
        sandbox.close()


def install_clean_up():
    """Everything that was started or made goes away, also on SIGTERM and SIGINT."""
    atexit.register(_clean_up)

    def leave(number, _frame):
        _clean_up()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, leave)
    signal.signal(signal.SIGINT, leave)
    signal.signal(signal.SIGHUP, leave)


class Run:
    """One call of a command: how it ended, what it said."""

    def __init__(self, argv, rc, out, err, seconds, pid):
        self.argv, self.rc, self.seconds, self.pid = argv, rc, seconds, pid
        self.out_bytes, self.err_bytes = out, err
        self.out, self.err = out.decode("utf-8", "replace"), err.decode("utf-8", "replace")

    @property
    def paths(self):
        """The result paths on standard output."""
        return [line for line in self.out.splitlines() if line]

    def said(self):
        text = (self.err.strip() or self.out.strip())[-300:].replace("\n", " | ")
        return text.encode("unicode_escape").decode()


class Live:
    """A running command."""

    def __init__(self, argv, **options):
        self.argv = argv
        self.start = time.monotonic()
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", self.out)
        options.setdefault("stderr", self.err)
        self.child = spawn(argv, **options)
        self.pid = self.child.pid

    def running(self):
        return self.child.poll() is None

    def signal(self, number):
        if self.running():
            self.child.send_signal(number)

    def wait(self, limit=30.0):
        """The finished run; a command that does not end is killed and fails the check."""
        try:
            rc = self.child.wait(limit)
        except subprocess.TimeoutExpired:
            stop(self.child, 0)
            rc = None
        with _guard:
            _children.discard(self.child)
        seconds = time.monotonic() - self.start
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read())
            file.close()
        run = Run(self.argv, rc, texts[0], texts[1], seconds, self.pid)
        expect(rc is not None, "still running after %.0f s: %s" % (limit, run.said()))
        return run


# ---------------------------------------------------------------- a sandbox
class Box:
    """The private directory of one check: `home`, `dl` (where downloads go) and whatever it mounts."""

    def __init__(self, base=None, keep=False):
        self.root = tempfile.mkdtemp(prefix="haul-check-", dir=base)
        os.chmod(self.root, 0o755)
        self.keep = keep
        self.home = os.path.join(self.root, "home")
        self.dl = os.path.join(self.root, "dl")
        os.mkdir(self.home)
        os.mkdir(self.dl)
        self.servers, self.mounts, self.runs, self.notes = [], [], [], []
        _sandboxes.add(self)

    # -- files
    def path(self, *parts):
        return os.path.join(self.dl, *parts)

    def write(self, name, data, mode=None):
        """A file outside the download directory; its path."""
        path = os.path.join(self.root, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        if mode is not None:
            os.chmod(path, mode)
        return path

    def tree(self, directory=None):
        """Every file and directory (with a slash) below, as relative paths."""
        top = directory or self.dl
        found = []
        for here, directories, files in os.walk(top):
            for name in directories:
                found.append(os.path.relpath(os.path.join(here, name), top) + "/")
            for name in files:
                found.append(os.path.relpath(os.path.join(here, name), top))
        return sorted(found)

    def finals(self):
        """The files that are no work files of Haul."""
        return [n for n in self.tree() if not n.endswith("/") and not n.endswith(PARTIAL_SUFFIXES)]

    def partials(self):
        return [n for n in self.tree() if n.endswith(PARTIAL_SUFFIXES)]

    def holds(self, name, content, only=True):
        """The file is there, byte-exact, and (unless told) nothing else is."""
        path = self.path(name)
        expect(os.path.isfile(path), "no file %r; there is %r%s" % (name, self.tree()[:6], self._last()))
        size = os.path.getsize(path)
        expect(size == content.size, "%r has %d bytes, not %d" % (name, size, content.size))
        expect(file_sha256(path) == content.sha256, "%r has wrong bytes" % name)
        if only:
            extra = [n for n in self.tree() if n != name]
            expect(not extra, "left over: %r" % extra)

    def nothing_final(self):
        expect(not self.finals(), "a file stands there: %r" % self.finals())

    def _last(self):
        return "; rc %s, said: %s" % (self.runs[-1].rc, self.runs[-1].said()) if self.runs else ""

    # -- servers and mounts
    def server(self, server):
        """A server that is closed with the sandbox."""
        self.servers.append(server)
        return server

    def tmpfs(self, options, where=None):
        where = where or self.dl
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", where], check=True)
        if where not in self.mounts:
            self.mounts.append(where)

    # -- calling haul
    def environment(self, extra=None):
        drop = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy", "netrc", "no_color",
                "xdg_config_home", "xdg_cache_home", "xdg_data_home", "xdg_runtime_dir", "columns", "lines")
        env = {k: v for k, v in os.environ.items() if k.lower() not in drop and not k.startswith("HAUL")}
        env.update(HOME=self.home, LC_ALL="C.UTF-8", LANG="C.UTF-8")
        env.update(extra or {})
        return env

    def argv(self, *arguments, loud=False):
        """`haul get` with impatient defaults (what is given later wins), quiet unless told."""
        base = ["--retries", "5", "--retry-wait", "0.2", "--stall-timeout", "5"] + ([] if loud else ["--quiet"])
        return haul_command() + ["get"] + base + [str(a) for a in arguments]

    def start(self, *arguments, env=None, cwd=None, loud=False, prefix=(), **options):
        """`haul get …` in the background; `prefix`: a command to run it under."""
        argv = list(prefix) + self.argv(*arguments, loud=loud)
        return Live(argv, env=self.environment(env), cwd=cwd or self.dl, **options)

    def get(self, *arguments, limit=30.0, **options):
        """`haul get …` to its end."""
        run = self.start(*arguments, **options).wait(limit)
        self.runs.append(run)
        expect(run.rc >= 0, "ended by signal %d: %s" % (-run.rc, run.said()))
        return run

    def ok(self, *arguments, **options):
        """`haul get …` that must end with 0."""
        run = self.get(*arguments, **options)
        expect(run.rc == 0, "exit %d, not 0: %s" % (run.rc, run.said()))
        return run

    def fails(self, codes, *arguments, **options):
        """`haul get …` that must end with one of the exit codes, and say something on standard error."""
        codes = (codes,) if isinstance(codes, int) else codes
        run = self.get(*arguments, **options)
        expect(run.rc in codes, "exit %d, not %s: %s" % (run.rc, "/".join(map(str, codes)), run.said()))
        expect(run.err.strip(), "failed without a word")
        return run

    def interrupted(self, server, count, *arguments, by=signal.SIGKILL, settle=0.35, limit=20.0, **options):
        """`haul get …` that gets a signal once the server sent `count` more body bytes.

        `settle` seconds go by between the two: what the servers sent must have been written and marked (100 ms).
        """
        base = server.body_sent
        live = self.start(*arguments, **options)
        end = time.monotonic() + limit
        while server.body_sent - base < count and live.running() and time.monotonic() < end:
            time.sleep(0.005)
        if not live.running():
            run = live.wait(1)
            self.runs.append(run)
            raise Failed("ended (%s) before it could be interrupted: %s" % (run.rc, run.said()))
        time.sleep(settle)
        expect(server.body_sent - base >= count, "only %d bytes were asked for" % (server.body_sent - base))
        sent_at = time.monotonic()
        live.signal(by)
        run = live.wait(10)
        run.stop_seconds = time.monotonic() - sent_at
        self.runs.append(run)
        return run

    def close(self):
        _sandboxes.discard(self)
        for server in self.servers:
            try:
                server.close()
            except Exception:  # closing goes on with the next one
                pass
        self.servers = []
        for where in reversed(self.mounts):
            subprocess.run(["umount", "-l", where], check=False, stderr=subprocess.DEVNULL)
        self.mounts = []
        if not self.keep:
            shutil.rmtree(self.root, ignore_errors=True)


def wait_until(condition, limit=10.0, what="a condition"):
    """Polls until the condition holds; its value."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise Failed("waited %.0f s for %s" % (limit, what))


# ---------------------------------------------------------------- checks and their report
CHECKS = []


def check(name, weight=1, alone=False):
    """Registers a check. `alone`: not beside others (it measures time or needs the machine)."""
    def register(function):
        assert name not in [c.name for c in CHECKS], name
        CHECKS.append(Check(name, function, weight, alone))
        return function
    return register


class Check:
    def __init__(self, name, function, weight, alone):
        self.name, self.function, self.weight, self.alone = name, function, weight, alone


class Report:
    """Prints a line for every check and, last, the closing line."""

    def __init__(self, verbose=False):
        self.passed = self.failed = 0
        self.verbose = verbose
        self._lock = threading.Lock()

    def line(self, good, name, reason="", seconds=None):
        with self._lock:
            if good:
                self.passed += 1
            else:
                self.failed += 1
            time_text = " (%.1f s)" % seconds if seconds is not None and self.verbose else ""
            print("%s %s%s%s" % ("ok" if good else "NOT ok", name, time_text, ": " + reason if reason else ""),
                  flush=True)

    def close(self):
        """Prints the closing line; the exit status of the script."""
        print("%d passed, %d failed" % (self.passed, self.failed), flush=True)
        return 1 if self.failed or not self.passed else 0


def run_check(item, report, keep=False, base=None):
    """One check in a sandbox of its own."""
    start = time.monotonic()
    box = Box(base=base, keep=keep)
    try:
        item.function(box)
        report.line(True, item.name, seconds=time.monotonic() - start)
    except Failed as problem:
        report.line(False, item.name, str(problem), time.monotonic() - start)
        _details(box, report)
    except Exception:  # a mistake of the check itself: a failure too
        report.line(False, item.name, traceback.format_exc()[-900:].replace("\n", " | "),
                    time.monotonic() - start)
        _details(box, report)
    finally:
        box.close()
        if keep:
            print("  kept %s" % box.root, flush=True)


def _details(box, report):
    if not report.verbose:
        return
    for run in box.runs:
        print("  $ %s\n  -> %s in %.1f s\n  %s" % (shlex.join(run.argv), run.rc, run.seconds, run.said()))
    for server in box.servers:
        for entry in getattr(server, "log", [])[:40]:
            print("  %s" % entry)
    sys.stdout.flush()


def select(only):
    """The checks whose name matches a pattern (shell style, or a part of the name)."""
    if not only:
        return CHECKS
    chosen = [c for c in CHECKS if fnmatch.fnmatch(c.name, only) or only in c.name]
    if not chosen:
        sys.exit("no check matches %r" % only)
    return chosen


def add_options(parser, jobs=4):
    parser.add_argument("--only", metavar="PATTERN", help="checks whose name matches (or contains) this")
    parser.add_argument("--keep", action="store_true", help="keep the sandboxes")
    parser.add_argument("--verbose", action="store_true", help="commands and request logs of failed checks, times")
    parser.add_argument("--jobs", type=int, default=jobs, help="checks at once (%(default)s)")
    parser.add_argument("--list", action="store_true", help="only print the names")


def main(options):
    """Runs the chosen checks; the exit status."""
    chosen = select(options.only)
    if options.list:
        for item in chosen:
            print(item.name)
        return 0
    require_haul()
    install_clean_up()
    report = Report(options.verbose)
    together = sorted((c for c in chosen if not c.alone), key=lambda c: -c.weight)
    with ThreadPoolExecutor(max(1, options.jobs)) as pool:
        for job in [pool.submit(run_check, item, report, options.keep) for item in together]:
            job.result()
    for item in (c for c in chosen if c.alone):
        run_check(item, report, options.keep)
    return report.close()
