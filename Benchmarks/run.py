#!/usr/bin/env python3
"""Measures Haul beside curl, aria2, wget2 and axel, and holds the figures against fixed bounds.

One loopback server (nginx, started here) with its files on tmpfs; every program works on the same files in turn
(A B A B …), and medians are compared. CPU is user + system time of the process as the kernel reports it at the end,
memory the high-water mark of its resident size. Outputs go to tmpfs unless a row says otherwise, and are removed after
each run. Haul syncs what it publishes in every row. Exit status 1 if a bound is broken. The command is $HAUL, or
.build/release/haul.
"""
import argparse
import datetime
import fnmatch
import hashlib
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "scripts", "checks"))

import peers  # noqa: E402
from loopback import Helper, Nginx  # noqa: E402
from support import harness  # noqa: E402
from support.harness import GIB, KIB, MIB, spawn  # noqa: E402
from support.tls import Authority  # noqa: E402


class Broken(Exception):
    """A program did not do its work: there is nothing to compare."""


class Sample:
    def __init__(self, wall, cpu, rss):
        self.wall, self.cpu, self.rss = wall, cpu, rss


class Bench:
    """Directories, files, servers, and the measuring."""

    def __init__(self, options):
        self.options = options
        base = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.root = tempfile.mkdtemp(prefix="haul-bench-", dir=base)
        self.disk = tempfile.mkdtemp(prefix=".bench-", dir=options.disk or HERE)
        self.docs = os.path.join(self.root, "docs")
        self.home = os.path.join(self.root, "home")
        os.mkdir(self.docs)
        os.mkdir(self.home)
        with open(os.path.join(self.home, ".axelrc"), "w") as file:
            file.write("save_state_interval = 10\n")
        self.tls = Authority(os.path.join(self.root, "tls"))
        self.nginx = Nginx(self.root, self.docs, self.tls)
        self.helpers, self.rows = [], []
        self.env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        self.env.update(HOME=self.home, LC_ALL="C.UTF-8", SSL_CERT_FILE=self.tls.ca)
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"):
            self.env.pop(name, None)

    # -- files
    def file(self, size, sparse=False):
        """A served file of that size; its name."""
        name = "%d.bin" % size
        path = os.path.join(self.docs, name)
        if not os.path.exists(path):
            with open(path, "wb") as file:
                block = b"" if sparse else os.urandom(min(size, 32 * MIB))
                for start in range(0, 0 if sparse else size, 32 * MIB):
                    file.write(block[:min(32 * MIB, size - start)])
                file.truncate(size)
        return name

    def many(self, count):
        """That many served files of 4 KiB; their names."""
        names = ["s/%05d.bin" % n for n in range(count)]
        os.makedirs(os.path.join(self.docs, "s"), exist_ok=True)
        for name in names:
            path = os.path.join(self.docs, name)
            if not os.path.exists(path):
                with open(path, "wb") as file:
                    file.write(os.urandom(4 * KIB))
        return names

    def helper(self, *arguments):
        helper = Helper(*arguments)
        self.helpers.append(helper)
        return helper

    def write(self, name, lines):
        path = os.path.join(self.root, name)
        with open(path, "w") as file:
            file.write("\n".join(lines) + "\n")
        return path

    # -- measuring
    def once(self, argv, directory, check=None, watches_memory=False):
        """Runs a program to its end in an empty directory, which is emptied again."""
        peak = [0]
        with open(os.path.join(self.root, "output"), "wb") as output:
            start = time.monotonic()
            # Started without a hook between fork and exec: a copy of this interpreter would be measured with it.
            child = subprocess.Popen(argv, env=self.env, cwd=directory, stdin=subprocess.DEVNULL, stdout=output,
                                     stderr=output, start_new_session=True)
            harness._children.add(child)
            if watches_memory:
                threading.Thread(target=watch_memory, args=(child.pid, peak), daemon=True).start()
            try:
                _, status, usage = os.wait4(child.pid, 0)
            except ChildProcessError:
                raise Broken("lost track of %s" % argv[0]) from None
            wall = time.monotonic() - start
            child.returncode = os.waitstatus_to_exitcode(status)
            harness._children.discard(child)
        try:
            if child.returncode:
                with open(os.path.join(self.root, "output"), errors="replace") as output:
                    raise Broken("%s: exit %d: %s" % (os.path.basename(argv[0]), child.returncode,
                                                      output.read()[-300:].strip()))
            if check:
                check(directory)
        finally:
            self.empty(directory)
        return Sample(wall, usage.ru_utime + usage.ru_stime, peak[0])

    def empty(self, directory):
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def beside(self, commands, check=None, runs=None, disk=False, watches_memory=False):
        """Medians of each program's samples: name → Sample. `commands`: name → function of the directory."""
        runs = runs or self.options.runs
        samples = {name: [] for name in commands}
        directory = os.path.join(self.disk if disk else self.root, "out")
        os.makedirs(directory, exist_ok=True)
        for _ in range(runs):
            for name, command in commands.items():
                if disk:
                    os.sync()
                samples[name].append(self.once(command(directory), directory, check, watches_memory))
        return {name: Sample(*(statistics.median(getattr(s, f) for s in found) for f in ("wall", "cpu", "rss")))
                for name, found in samples.items()}

    # -- results
    def row(self, work, figure, value, unit, bound, held, peers_text="", ratio=None):
        shown = {"s": "%.3f s", "MiB": "%.1f MiB", "%": "%.2f %%", "": "%d"}[unit] % value
        self.rows.append((work, figure, shown, peers_text, "" if ratio is None else "%.2f" % ratio, bound, held))
        print("%-6s %-58s %-6s %-10s %-26s %-6s %s" % ("ok" if held else "BROKEN", work, figure, shown, peers_text,
              "" if ratio is None else "%.2f" % ratio, bound), flush=True)

    def ratio(self, work, figure, medians, peer, factor, goal=None):
        """Haul's figure against a factor of a peer's."""
        mine, other = getattr(medians["haul"], figure), getattr(medians[peer], figure)
        text = "≤ %.2f × %s" % (factor, peer) + (" (goal %.2f)" % goal if goal else "")
        self.row(work, figure, mine, "s", text, mine <= factor * other, "%s %.3f s" % (peer, other),
                 mine / other if other else float("inf"))

    def close(self):
        for helper in self.helpers:
            helper.close()
        self.nginx.close()
        shutil.rmtree(self.root, ignore_errors=True)
        shutil.rmtree(self.disk, ignore_errors=True)


def watch_memory(pid, peak):
    """Follows the high-water mark of a process. (`ru_maxrss` also counts the memory of who started it.)"""
    try:
        while True:
            with open("/proc/%d/status" % pid) as file:
                found = [line for line in file if line.startswith("VmHWM:")]
            if not found:
                return
            peak[0] = max(peak[0], int(found[0].split()[1]) * KIB)
            time.sleep(0.02)
    except OSError:
        return


def sized(name, size):
    def check(directory):
        path = os.path.join(directory, name)
        if not os.path.isfile(path) or os.path.getsize(path) != size:
            raise Broken("no whole file %s: %r" % (name, os.listdir(directory)[:5]))
    return check


def counted(count):
    def check(directory):
        found = len(os.listdir(directory))
        if found != count:
            raise Broken("%d files, not %d" % (found, count))
    return check


ROWS = []


def work(name):
    def register(function):
        ROWS.append((name, function))
        return function
    return register


# ---------------------------------------------------------------- one large file
@work("1 GiB, one connection, HTTP")
def one_connection(bench, title):
    size = bench.scale(GIB)
    url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, bench.file(size))
    medians = bench.beside({
        "haul": lambda d: peers.haul("-c", 1, "-o", d + "/f", url),
        "curl": lambda d: peers.curl(url, d + "/f"),
    }, sized("f", size))
    bench.ratio(title, "cpu", medians, "curl", 1.0, 0.9)
    bench.ratio(title, "wall", medians, "curl", 1.1)


@work("1 GiB onto the disk file system")
def onto_disk(bench, title):
    size = bench.scale(GIB)
    url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, bench.file(size))
    medians = bench.beside({
        "haul": lambda d: peers.haul("-c", 1, "-o", d + "/f", url),
        "curl + sync": lambda d: peers.curl_synced(url, d + "/f"),
    }, sized("f", size), disk=True)
    bench.ratio(title + " (%s)" % file_system(bench.disk), "wall", medians, "curl + sync", 1.1)


@work("1 GiB over TLS")
def over_tls(bench, title):
    size = bench.scale(GIB)
    url = "https://127.0.0.1:%d/%s" % (bench.nginx.tls1, bench.file(size))
    medians = bench.beside({
        "haul": lambda d: peers.haul("-c", 1, "--cacert", bench.tls.ca, "-o", d + "/f", url),
        "curl": lambda d: peers.curl(url, d + "/f", "--cacert", bench.tls.ca),
    }, sized("f", size))
    bench.ratio(title, "cpu", medians, "curl", 1.05)


@work("1 GiB with --checksum sha256")
def with_checksum(bench, title):
    size = bench.scale(GIB)
    name = bench.file(size)
    url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, name)
    digest = hashlib.sha256()
    with open(os.path.join(bench.docs, name), "rb") as file:
        while piece := file.read(MIB):
            digest.update(piece)
    medians = bench.beside({
        "haul": lambda d: peers.haul("-c", 1, "--checksum", "sha256:" + digest.hexdigest(), "-o", d + "/f", url),
        "aria2c": lambda d: peers.aria2(url, d + "/f", "-x1", "-s1", "--checksum=sha-256=" + digest.hexdigest()),
    }, sized("f", size))
    bench.ratio(title, "cpu", medians, "aria2c", 0.65)


# ---------------------------------------------------------------- many small files
def small_files(bench, title, count, base, haul_options, tls):
    names = bench.many(count)
    urls = ["%s/%s" % (base, n) for n in names]
    listed = bench.write("list.txt", urls)
    config = os.path.join(bench.root, "curl.config")
    trust = ("--cacert", bench.tls.ca) if tls else ()
    aria2_trust = ("--ca-certificate=" + bench.tls.ca,) if tls else ()
    medians = bench.beside({
        "haul": lambda d: peers.haul(*haul_options, *trust, "-d", d, "-i", listed),
        "curl": lambda d: peers.curl_list(urls, d, config, *trust),
        "aria2c": lambda d: peers.aria2_list(listed, d, *aria2_trust),
    }, counted(count))
    bench.ratio(title, "wall", medians, "curl", 1.3)
    bench.ratio(title, "wall", medians, "aria2c", 0.5)


@work("10,000 × 4 KiB from a list, HTTP/1.1, -j 50")
def small_http1(bench, title):
    small_files(bench, title, bench.scale(10_000), "http://127.0.0.1:%d" % bench.nginx.http, ("-j", 50), False)


@work("10,000 × 4 KiB from a list, HTTP/2 + TLS, defaults")
def small_http2(bench, title):
    small_files(bench, title, bench.scale(10_000), "https://127.0.0.1:%d" % bench.nginx.tls2, (), True)


@work("2,000 × 4 KiB at 50 ms round trip, HTTP/2 + TLS, defaults")
def small_far(bench, title):
    count = 2000
    relay = bench.helper("relay", bench.nginx.tls2, 25)
    names = bench.many(count)
    listed = bench.write("far.txt", ["https://127.0.0.1:%d/%s" % (relay.port, n) for n in names])
    medians = bench.beside({
        "haul": lambda d: peers.haul("--cacert", bench.tls.ca, "-d", d, "-i", listed),
        "wget2": lambda d: peers.wget2_list(listed, d, "--ca-certificate=" + bench.tls.ca),
        "aria2c": lambda d: peers.aria2_list(listed, d, "--ca-certificate=" + bench.tls.ca),
    }, counted(count))
    bench.ratio(title, "wall", medians, "wget2", 0.5)
    bench.ratio(title, "wall", medians, "aria2c", 0.2)
    bench.row(title, "wall", medians["haul"].wall, "s", "≤ 0.8 s", medians["haul"].wall <= 0.8)


# ---------------------------------------------------------------- slow connections
@work("128 MiB at 4 MiB/s per connection, -c 16")
def segments(bench, title):
    size = 128 * MIB
    url = "http://127.0.0.1:%d/slow/%s" % (bench.nginx.http, bench.file(size))
    medians = bench.beside({
        "haul": lambda d: peers.haul("-c", 16, "-o", d + "/f", url),
        "aria2c": lambda d: peers.aria2(url, d + "/f", "-x16", "-s16", "-k1M"),
        "axel": lambda d: peers.axel(url, d + "/f", 16),
    }, sized("f", size))
    best = min(("aria2c", "axel"), key=lambda n: medians[n].wall)
    bench.ratio(title, "wall", medians, best, 1.05)


@work("128 MiB at 4 MiB/s, one connection in five at 128 KiB/s, -c 16")
def uneven(bench, title):
    size = 128 * MIB
    server = bench.helper("paced", os.path.join(bench.docs, bench.file(size)), 4 * MIB, 128 * KIB)
    url = "http://127.0.0.1:%d/file.bin" % server.port
    medians = bench.beside({
        "haul": lambda d: peers.haul("-c", 16, "-o", d + "/f", url),
        "axel": lambda d: peers.axel(url, d + "/f", 16),
        "aria2c": lambda d: peers.aria2(url, d + "/f", "-x16", "-s16", "-k1M"),
    }, sized("f", size), runs=min(bench.options.runs, 5))
    bench.ratio(title, "wall", medians, "axel", 1.0)
    bench.ratio(title, "wall", medians, "aria2c", 0.4)


@work("512 MiB at 4 MiB/s per connection, --connections auto")
def automatic(bench, title):
    size = bench.scale(512 * MIB)
    server = bench.helper("paced", os.path.join(bench.docs, bench.file(size)), 4 * MIB, 0)
    url = "http://127.0.0.1:%d/file.bin" % server.port
    early = []

    def auto(directory):
        early.append(len(server.lines))
        return peers.haul("--connections", "auto", "-o", directory + "/f", url)

    def fixed(directory):
        early.append(len(server.lines))
        return peers.haul("-c", 16, "-o", directory + "/f", url)
    medians = bench.beside({"haul": auto, "-c 16": fixed}, sized("f", size), runs=min(bench.options.runs, 5))
    bench.ratio(title, "wall", medians, "-c 16", 1.25)
    # Connections of each automatic run in its first 100 ms: the probe's and at most two more.
    time.sleep(0.2)
    most = 0
    for run in range(0, len(early), 2):
        opened = server.lines[early[run]:early[run + 1] if run + 1 < len(early) else None]
        most = max(most, sum(1 for t in opened if t - opened[0] < 0.1))
    bench.row(title, "conns", most, "", "≤ 1 + 2 in the first 100 ms", most <= 3)


# ---------------------------------------------------------------- start, memory, idling
@work("start-up: a file of 1 byte")
def start_up(bench, title):
    url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, bench.file(1))
    medians = bench.beside({
        "haul": lambda d: peers.haul("-o", d + "/f", url),
        "curl": lambda d: peers.curl(url, d + "/f"),
    }, sized("f", 1), runs=max(bench.options.runs, 15))
    bench.ratio(title, "wall", medians, "curl", 2.0)


@work("6 GiB file: peak memory")
def memory(bench, title):
    peaks = {}
    for size in (GIB, bench.scale(6 * GIB)):
        name = bench.file(size, sparse=size != GIB)
        url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, name)
        room = shutil.disk_usage(bench.root).free > size + GIB and available_memory() > size + 2 * GIB
        found = bench.beside({"haul": lambda d: peers.haul("-o", d + "/f", url)}, sized("f", size), runs=1,
                             disk=not room, watches_memory=True)
        peaks[size] = found["haul"].rss
        if size == bench.scale(6 * GIB):
            break
    largest = peaks[max(peaks)]
    bench.row(title, "rss", largest / MIB, "MiB", "≤ 48 MiB", largest <= 48 * MIB)
    growth = largest - peaks[min(peaks)]
    bench.row(title, "growth", growth / MIB, "MiB", "≤ 4 MiB more than for 1 GiB", growth <= 4 * MIB)


def available_memory():
    with open("/proc/meminfo") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * KIB
    return 0


def cpu_of(pid):
    """User and system seconds of a living process so far."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@work("limited to 100 KiB/s")
def limited(bench, title):
    size = 1000 * KIB
    url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, bench.file(size))
    medians = bench.beside({"haul": lambda d: peers.haul("--limit-rate", "100K", "-o", d + "/f", url)},
                           sized("f", size), runs=1)
    wall, cpu = medians["haul"].wall, medians["haul"].cpu
    bench.row(title, "cpu", 100 * cpu / wall, "%", "< 1 % of a core", cpu / wall < 0.01)
    bench.row(title, "time", wall, "s", "10 s within 5 %", 9.5 <= wall <= 10.5)


@work("paused: nobody reads the output")
def paused(bench, title):
    size = bench.scale(GIB)
    url = "http://127.0.0.1:%d/%s" % (bench.nginx.http, bench.file(size))
    child = spawn(peers.haul("-o", "-", url), env=bench.env, cwd=bench.root, stdin=subprocess.DEVNULL,
                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        if not child.stdout.read(1):
            raise Broken("nothing came on standard output")
        time.sleep(1)
        before = cpu_of(child.pid)
        time.sleep(10)
        used = cpu_of(child.pid) - before
    finally:
        harness.stop(child, 2)
        child.stdout.close()
    bench.row(title, "cpu", used * 10, "%", "< 1 % of a core", used / 10 < 0.01)


def file_system(path):
    best, kind = "", "?"
    with open("/proc/mounts") as file:
        for line in file:
            where, found = line.split()[1:3]
            if (path + "/").startswith(where.rstrip("/") + "/") and len(where) >= len(best):
                best, kind = where, found
    return kind


# ---------------------------------------------------------------- the table
def versions():
    lines = []
    for command in (harness.haul_command() + ["version"], ["curl", "-q", "--version"], ["aria2c", "--version"],
                    ["wget2", "--version"], ["axel", "--version"]):
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=10)
            lines.append((done.stdout or done.stderr).strip().splitlines()[0])
        except (OSError, IndexError, subprocess.TimeoutExpired):
            lines.append("%s: not found" % os.path.basename(command[0]))
    return lines


def processor():
    with open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.machine()


def markdown(bench, options):
    shown = "Benchmarks/run.py" + "".join(" " + a for a in sys.argv[1:] if not os.path.isabs(a))
    lines = ["Measured %s with `%s`: medians of %d alternating runs on %d × %s, Linux %s."
             % (datetime.date.today().isoformat(), shown, options.runs, os.cpu_count(), processor(),
                platform.release()), ""]
    lines += ["- " + v for v in versions()] + [""]
    lines += ["| work | figure | haul | peer | ratio | bound | held |", "| --- | --- | ---: | --- | ---: | --- | --- |"]
    for row in bench.rows:
        lines.append("| " + " | ".join(row[:6]) + " | %s |" % ("yes" if row[6] else "**no**"))
    with open(options.markdown, "w") as file:
        file.write("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=9, help="runs of each program (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="an eighth of the large sizes: a rough look")
    parser.add_argument("--only", metavar="PATTERN", help="rows whose name matches or contains this")
    parser.add_argument("--markdown", metavar="FILE", help="write the table there")
    parser.add_argument("--disk", metavar="DIR", help="where the row on the disk file system writes")
    parser.add_argument("--list", action="store_true", help="only print the rows")
    options = parser.parse_args()
    chosen = [(n, f) for n, f in ROWS if not options.only or options.only in n or fnmatch.fnmatch(n, options.only)]
    if options.list or not chosen:
        print("\n".join(n for n, _ in ROWS))
        return 0 if chosen else 2
    harness.require_haul()
    for tool in ("curl", "aria2c", "wget2", "axel", "openssl"):
        if shutil.which(tool) is None:
            sys.exit("%s is not installed; see scripts/checks/packages.txt" % tool)
    harness.install_clean_up()
    bench = Bench(options)
    bench.scale = lambda value: value // 8 if options.quick else value
    harness._sandboxes.add(bench)
    broken = []
    try:
        for title, function in chosen:
            try:
                function(bench, title)
            except Broken as problem:
                broken.append(title)
                reason = str(problem).replace("|", "/").replace("\n", " ")[:120]
                bench.rows.append((title, "", "", "", "", reason, False))
                print("BROKEN %s: %s" % (title, problem), flush=True)
        if options.markdown:
            markdown(bench, options)
    finally:
        harness._sandboxes.discard(bench)
        bench.close()
    missed = [row for row in bench.rows if not row[6]]
    print("%d bounds held, %d broken" % (len(bench.rows) - len(missed), len(missed)))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
