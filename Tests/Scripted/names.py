"""File names and twins: cases B086 to B097, D06, D07, D08; the terminal: B131, B151."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import threading
import time
import unicodedata

from common import (KIB, MIB, Content, Text, at_most, broken_off, check, expect, one, refetched, visible,
                    wait_until)
from shim import shim_environment

A = Content("a", MIB)
SMALL = Content("small", 20_000)


def named(box, disposition, wanted, path="/from-url.txt"):
    """The name that a Content-Disposition header leads to."""
    server = one(box, lambda rq: rq.serve(SMALL, headers=[("Content-Disposition", disposition)]))
    run = box.ok("-d", box.dl, server.url(path))
    found = box.finals()
    expect(len(found) == 1, "files: %r" % box.tree())
    expect(found[0] in ((wanted,) if isinstance(wanted, str) else wanted), "%r became %r" % (disposition, found[0]))
    box.holds(found[0], SMALL)
    expect(os.listdir(box.root) and not [n for n in os.listdir(box.root) if n not in ("home", "dl", "canary")],
           "something was written outside: %r" % os.listdir(box.root))
    os.unlink(box.path(found[0]))
    return run


@check("B086 a percent-encoded plain filename is decoded once")
def percent(box):
    named(box, 'attachment; filename="%E3%83%86.txt"', "テ.txt")
    named(box, 'attachment; filename="100%25.txt"', ("100%.txt", "100%25.txt"))


@check("B087 odd headers: trailing semicolon, empty, quoted semicolon, two dots")
def odd_headers(box):
    named(box, "attachment; filename=plain.txt;", "plain.txt")
    named(box, 'attachment; filename=""', "from-url.txt")
    named(box, 'attachment; filename="a;b.txt"', "a;b.txt")
    named(box, 'attachment; filename=".."', "from-url.txt")
    named(box, "attachment; filename*=UTF-8''na%C3%AFve.txt; filename=\"naive.txt\"", "naïve.txt")


@check("B088 no name from a header or a URL leaves the directory")
def traversal(box):
    for given in ("../../evil", "/etc/x", "a\\b", "..%2F..%2Fevil", "..\\..\\evil", "....//evil"):
        server = one(box, lambda rq, given=given: rq.serve(
            SMALL, headers=[("Content-Disposition", 'attachment; filename="%s"' % given)]))
        before = sorted(os.listdir(box.root))
        box.ok("-d", box.dl, server.url())
        names = box.finals()
        expect(len(names) == 1 and "/" not in names[0] and "\\" not in names[0], "%r became %r" % (given, names))
        expect(sorted(os.listdir(box.root)) == before and not os.path.exists("/etc/x"), "written outside")
        os.unlink(box.path(names[0]))
    server = one(box, lambda rq: rq.serve(SMALL))
    box.ok("-d", box.dl, server.url("/..%2F..%2Fevil"))
    expect(all("/" not in n and n != ".." for n in box.finals()), "the URL led outside: %r" % box.finals())
    expect(len(box.finals()) == 1 and not os.path.exists(os.path.join(box.root, "evil")), "written outside")


@check("B088 an output name in a list stays inside the directory")
def traversal_by_list(box):
    server = one(box, lambda rq: rq.serve(SMALL))
    inside = box.path("inside")
    os.mkdir(inside)
    for given in ("../evil", "/" + "/".join(["..", "evil"]), "sub/../../evil"):
        lines = box.write("list.txt", "%s\n  out=%s\n" % (server.url("/f.bin"), given))
        run = box.get("-d", inside, "-i", lines)
        expect(run.rc in (0, 2, 3), "exit %d" % run.rc)
        expect(all(n.startswith("inside/") for n in box.tree()) and not os.path.exists("/evil")
               and not os.path.exists(os.path.join(box.root, "evil")), "written outside: %r" % box.tree())


@check("B088 a symbolic link at the suggested name is not followed")
def link_in_the_way(box):
    canary = box.write("canary", "mine\n")
    os.symlink(canary, box.path("f.bin"))
    server = one(box, lambda rq: rq.serve(SMALL))
    box.get("-d", box.dl, server.url("/f.bin"))
    with open(canary) as file:
        expect(file.read() == "mine\n", "the file behind the link was overwritten")


@check("B091 names that are odd elsewhere are kept or replaced, and work")
def odd_characters(box):
    named(box, 'attachment; filename="a:b?.txt"', ("a:b?.txt", "a_b_.txt", "a:b_.txt", "a-b-.txt"))
    named(box, 'attachment; filename="x<y>|.txt"', ("x<y>|.txt", "x_y__.txt"))
    server = one(box, lambda rq: rq.serve(SMALL, headers=[("Content-Disposition", 'attachment; filename="AUX.TXT"')]))
    box.ok("-d", box.dl, server.url())
    expect(len(box.finals()) == 1 and "AUX" in box.finals()[0].upper(), "files: %r" % box.finals())


@check("B092 two downloads of one suggested name give two files with the right contents", weight=2)
def twins(box):
    slow, fast = Content("slow", MIB), Content("fast", MIB // 2)

    def handler(rq):
        headers = [("Content-Disposition", 'attachment; filename="same.bin"')] if rq.query else []
        rq.serve(slow if rq.path.startswith("/a") else fast, rate=MIB if rq.path.startswith("/a") else None,
                 headers=headers)
    for tail in ("same.bin", "x?header=1"):
        server = one(box, handler)
        run = box.ok("-j", 2, "-d", box.dl, server.url("/a/" + tail), server.url("/b/" + tail))
        expect(box.tree() == ["same (1).bin", "same.bin"], "files: %r" % box.tree())
        digests = sorted((os.path.getsize(box.path(n)) for n in box.tree()))
        expect(digests == [fast.size, slow.size], "sizes: %r" % digests)
        for name in list(box.tree()):
            box.holds(name, slow if os.path.getsize(box.path(name)) == slow.size else fast, only=False)
            os.unlink(box.path(name))
        expect(sorted(run.paths) == sorted([box.path("same.bin"), box.path("same (1).bin")]), "said %r" % run.out)


@check("B093 a second process on the same target fails with exit 3 and harms nothing", weight=2)
def second_process(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    live = box.start("-c", 1, "-o", box.path("file.bin"), server.url())
    wait_until(lambda: server.body_sent > 200_000 or not live.running(), 10, "the first process")
    run = box.fails(3, "-o", box.path("file.bin"), server.url())
    expect(run.seconds < 2, "took %.1f s to say so" % run.seconds)
    expect(str(live.pid) in run.err, "does not name process %d: %s" % (live.pid, run.said()))
    first = live.wait(20)
    expect(first.rc == 0, "the first process ended with %d: %s" % (first.rc, first.said()))
    box.holds("file.bin", A)


@check("D13 a stale journal or lock of a killed process never blocks; --wait waits for a living one", weight=3)
def stale_lock(box):
    server = broken_off(box, A, lambda rq: rq.serve(A, rate=MIB // 2))
    first = box.start(*server.command)
    wait_until(lambda: server.body_sent > server.before + 100_000 or not first.running(), 10, "the first process")
    second = box.start("--wait", *server.command)
    expect(first.wait(20).rc == 0, "the first process failed")
    run = second.wait(20)
    expect(run.rc == 0, "--wait: exit %d: %s" % (run.rc, run.said()))
    box.holds("file.bin", A)


@check("D13 --wait also waits for a file whose name only the answer tells", weight=3)
def wait_for_name(box):
    both = threading.Barrier(2)

    def handler(rq):
        # The second one looked before the first had the file, and is answered when the first has it.
        if rq.number <= 2:
            both.wait(20)
        if rq.number == 2:
            wait_until(lambda: server.body_sent > 100_000, 20, "the first process")
        return rq.serve(A, headers=[("Content-Disposition", "attachment; filename=given.bin")], rate=MIB // 2)

    server = one(box, handler)
    live = [box.start("--wait", "-d", box.dl, server.url("/f")) for _ in range(2)]
    for process in live:
        run = process.wait(20)
        expect(run.rc == 0, "--wait: exit %d: %s" % (run.rc, run.said()))
    box.holds("given.bin", A)


@check("B096 escape, control and bidi characters reach neither the disk nor the terminal")
def controls(box):
    wild = ["x\x1b[2Jy.txt", "a\rDone.txt", "evil\u202etxt.exe", "n\x7fb\x9bc.txt", "bell\x07.txt"]
    for given in wild:
        encoded = "".join("%%%02X" % b for b in given.encode())
        server = one(box, lambda rq, encoded=encoded: rq.serve(
            SMALL, headers=[("Content-Disposition", "attachment; filename*=UTF-8''" + encoded)]))
        run = box.ok("-v", "-d", box.dl, server.url(), loud=True)
        visible(run.err_bytes)
        visible(run.out_bytes)
        for name in box.finals():
            visible(name.encode())
            os.unlink(box.path(name))


@check("B096 controls in Location, status text and error bodies are not printed")
def controls_in_answers(box):
    def handler(rq):
        if rq.path == "/status":
            return rq.reply(404, body=b"\x1b[2Jcleared", reason="No\x1b[31mt \u202eFound\x07")
        if rq.path == "/location":
            return rq.redirect("/x\x1b[2J\x07y")
        return rq.error(404, text="\x1b[31m\x9b2J")
    server = one(box, handler)
    for path in ("/status", "/location", "/body"):
        run = box.get("-v", "--retries", 0, "-d", box.dl, server.url(path), loud=True)
        expect(run.rc in (7, 8), "exit %d" % run.rc)
        visible(run.err_bytes)


@check("B097 a partial whose name came from a header is found again by its URL")
def found_again(box):
    header = [("Content-Disposition", 'attachment; filename="given name.bin"')]
    server = broken_off(box, A, lambda rq: rq.serve(A, headers=header), "-d", box.dl, path="/get?id=7",
                        options={"headers": header})
    server.again()
    box.holds("given name.bin", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("D06 a suggested name never hides")
def hidden(box):
    server = one(box, lambda rq: rq.serve(SMALL))
    box.ok("-d", box.dl, server.url("/.bashrc"))
    expect(len(box.finals()) == 1 and not box.finals()[0].startswith("."), "files: %r" % box.finals())


@check("D07 trailing dots and spaces go, and a resume still finds the partial")
def trailing(box):
    server = broken_off(box, A, lambda rq: rq.serve(A), "-d", box.dl, path="/trail.txt.%20")
    server.again()
    names = box.finals()
    expect(len(names) == 1 and not names[0].endswith((".", " ")), "files: %r" % names)
    box.holds(names[0], A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


# ---------------------------------------------------------------- the terminal
def on_terminal(box, *arguments, columns=60, env=None, limit=30, watch=None):
    """`haul get` with a terminal as its standard error; what it wrote there, and the exit status.

    `watch` gets each piece that was written, and may give a new width.
    """
    master, slave = pty.openpty()

    def resize(columns):
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    resize(columns)
    settings = termios.tcgetattr(slave)
    settings[1] &= ~termios.OPOST
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    live = box.start(*arguments, env=dict({"TERM": "xterm-256color"}, **(env or {})), loud=True, stderr=slave)
    os.close(slave)
    data = b""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        ready, _, _ = select.select([master], [], [], 0.2)
        if ready:
            try:
                piece = os.read(master, 65536)
            except OSError:
                break
            if not piece:
                break
            data += piece
            width = watch(piece.decode("utf-8", "replace")) if watch else None
            if width:
                resize(width)
        elif not live.running():
            break
    run = live.wait(5)
    os.close(master)
    box.runs.append(run)
    return data, run


def cells(text):
    """Columns that a line takes on a terminal."""
    width = 0
    for char in text:
        if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Me", "Mn"):
            continue
        width += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return width


ESCAPE = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07]*(\x07|\x1b\\)|.)")


@check("D08 wide names never make a progress line wider than the terminal", weight=3)
def wide_names(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    name = "日本語のとても長いファイル名👩‍👩‍👧‍👦漢字漢字漢字漢字漢字.bin"
    for columns in (30, 60):
        data, run = on_terminal(box, "--if-exists", "replace", "-d", box.dl,
                                server.url("/" + "".join("%%%02X" % b for b in name.encode())), columns=columns)
        expect(run.rc == 0, "exit %d" % run.rc)
        text = data.decode("utf-8", "strict")
        expect("\r" in text or "\x1b" in text, "no bar on a terminal: %r" % text[:200])
        for line in re.split(r"[\r\n]+", ESCAPE.sub("\n", text)):
            expect(cells(line) <= columns, "%d cells on %d columns: %r" % (cells(line), columns, line))


class Screen:
    """A terminal in miniature: what the bars' escape sequences do, and what becomes of lines at a resize."""

    def __init__(self, width, reflows):
        self.width, self.reflows = width, reflows
        self.rows, self.row, self.column, self.wraps = [["", False]], 0, 0, True
        self.pending = ""

    def lines(self):
        found = [text.rstrip() for text, _ in self.rows]
        while found and not found[-1]:
            found.pop()
        return found

    def write(self, text):
        text = self.pending + text
        half = re.search(r"\x1b(\[[0-9;?]*)?$", text)
        self.pending = half.group() if half else ""
        text = text[:len(text) - len(self.pending)]
        for sequence, char in re.findall(r"\x1b\[([0-9;?]*[A-Za-z])|(.)", text, re.DOTALL):
            if sequence:
                self.obey(sequence[:-1], sequence[-1])
            elif char == "\r":
                self.column = 0
            elif char == "\n":
                self.feed()
                self.column = 0  # what the terminal's driver makes of a line end
            else:
                self.put(char)

    def obey(self, number, command):
        row = self.rows[self.row]
        if command == "A":
            self.row = max(0, self.row - int(number or 1))
        elif command in "JK":
            row[0], row[1] = row[0][:self.column], False
            if command == "J":
                del self.rows[self.row + 1:]
        elif command in "hl":
            self.wraps = command == "h"

    def feed(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append(["", False])

    def put(self, char):
        if self.column == self.width:
            if self.wraps:
                self.rows[self.row][1] = True
                self.feed()
                self.column = 0
            else:
                self.column -= 1
        row = self.rows[self.row]
        text = row[0].ljust(self.column)
        row[0] = text[:self.column] + char + text[self.column + 1:]
        self.column += 1

    def resize(self, width):
        self.width = width
        if not self.reflows:
            for row in self.rows:
                row[0] = row[0][:width]
            self.column = min(self.column, width - 1)
            return
        old, is_open = [], False
        for index, (text, broken) in enumerate(self.rows):
            if not is_open:
                old.append(["", None])
            if index == self.row:
                old[-1][1] = len(old[-1][0]) + self.column
            old[-1][0] += text
            is_open = broken
        self.rows = []
        for text, cursor in old:
            first = len(self.rows)
            pieces = [text[at:at + width] for at in range(0, len(text), width)] or [""]
            self.rows += [[piece, at + 1 < len(pieces)] for at, piece in enumerate(pieces)]
            if cursor is not None:
                self.row, self.column = min(first + cursor // width, len(self.rows) - 1), cursor % width


@check("B151 a terminal that is made narrower and wider keeps no pieces of the bars", weight=4)
def resized(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    names = ["one.bin", "two.bin", "three.bin"]
    screens = [Screen(100, False), Screen(100, True)]
    widths = [50, 33, 120, 60, 99]
    state = {"frames": 0, "seen": 0}
    for screen in screens:
        screen.write("$ haul\r\n")

    def watch(piece):
        for screen in screens:
            screen.write(piece)
        state["frames"] += piece.count("\x1b[?7h")
        # The second frame after a resize was certainly made for the new width.
        if state["frames"] < 3 or not widths or not piece.endswith("A"):
            return None
        for screen in screens:
            lines = screen.lines()
            expect(lines[0] == "$ haul", "the line above the bars is gone: %r" % lines)
            expect(len(lines) <= 5, "more lines than bars: %r" % lines)
            for name in names:
                expect(sum(line.startswith(name) for line in lines) <= 1, "%s twice: %r" % (name, lines))
            screen.resize(widths[0])
        state["frames"] = 0
        state["seen"] += 1
        return widths.pop(0)

    data, run = on_terminal(box, "-c", 1, "-d", box.dl, *[server.url("/" + name) for name in names],
                            columns=100, env={"LC_ALL": "C.UTF-8"}, watch=watch)
    expect(run.rc == 0, "exit %d" % run.rc)
    expect(state["seen"] >= 3, "only %d resizes were seen" % state["seen"])
    for screen in screens:
        lines = screen.lines()
        expect(len(lines) == 4 and lines[0] == "$ haul", "left on the screen: %r" % lines)


@check("B137 a bar is drawn at most ten times a second", weight=3)
def calm_bar(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    data, run = on_terminal(box, "-c", 1, "-o", box.path("file.bin"), server.url())
    expect(run.rc == 0, "exit %d" % run.rc)
    figures = re.findall(rb"\d+ ?%", data)
    expect(figures, "no percentage on a terminal: %r" % data[:200])
    at_most(len(figures), int(10 * run.seconds) + 5, "drawings in %.1f s" % run.seconds)


@check("B151 standard error that is no terminal gets plain lines, and few", weight=4)
def not_a_terminal(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 4))
    run = box.ok("-c", 1, "-o", box.path("file.bin"), server.url(), loud=True)
    visible(run.err_bytes)
    at_most(len(run.err.splitlines()), 6, "lines on standard error for 4 s")
    expect(run.out == box.path("file.bin") + "\n", "standard output: %r" % run.out)


@check("B151 TERM=dumb gets no escapes, NO_COLOR no colours", weight=3)
def dumb(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    data, run = on_terminal(box, "-o", box.path("file.bin"), server.url(), env={"TERM": "dumb"})
    expect(run.rc == 0 and b"\x1b" not in data, "escapes for TERM=dumb: %r" % data[:200])
    data, run = on_terminal(box, "-o", box.path("file.bin"), "--if-exists", "replace", server.url(),
                            env={"NO_COLOR": "1"})
    expect(run.rc == 0, "exit %d" % run.rc)
    colours = re.findall(rb"\x1b\[(?:[0-9;]*)m", data)
    expect(not [c for c in colours if c not in (b"\x1b[m", b"\x1b[0m", b"\x1b[1m", b"\x1b[2m", b"\x1b[22m")],
           "colours in spite of NO_COLOR: %r" % colours[:3])


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def all_numbers(value):
    if isinstance(value, dict):
        for inner in value.values():
            yield from all_numbers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from all_numbers(inner)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield value


def sane(run):
    """The JSON lines of a run, after looking for numbers that are none."""
    found = json_lines(run.err + "\n" + run.out)
    expect(found, "no JSON lines: " + run.said())
    for number in (n for item in found for n in all_numbers(item)):
        expect(number == number and abs(number) < 1e18 and number >= 0, "a number %r" % number)
    expect(not re.search(r"(?i)[:= ]-?(nan|inf|infinity)\b", run.err + run.out), "no number: " + run.said())
    return found


@check("B131 tiny files and silent servers give no impossible numbers", weight=4)
def impossible_numbers(box):
    def handler(rq):
        if rq.path == "/three":
            return rq.serve(Text(b"abc"))
        if server.bump() == 1:
            rq.head(200, [("Content-Length", A.size), ("ETag", '"%s"' % A.tag), ("Accept-Ranges", "bytes")])
            rq.connection.sleep(3)
            return rq.stream(A, 0, A.size)
        return rq.serve(A)
    server = one(box, handler)
    sane(box.ok("--progress", "json", "-o", box.path("three"), server.url("/three"), loud=True))
    sane(box.ok("--progress", "json", "-c", 1, "-o", box.path("file.bin"), server.url("/silent"), loud=True))
    box.holds("file.bin", A, only=False)


@check("B131 a calendar clock that goes back an hour changes neither rate nor retries", weight=3)
def clock_back(box):
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    run = box.ok("--progress", "json", "-c", 1, "-o", box.path("file.bin"), server.url(), loud=True,
                 env=shim_environment(box, clock_back=800))
    box.holds("file.bin", A)
    sane(run)
    expect(run.seconds < 8, "took %.1f s" % run.seconds)


@check("B118 the progress never exceeds the total after a restart", weight=2)
def never_over(box):
    for second in (lambda rq: rq.serve(A, rate=MIB), lambda rq: rq.serve(A, ranges=False, rate=MIB)):
        server = broken_off(box, A, second, at=900_000)
        run = box.ok("--progress", "json", *server.command, loud=True)
        for item in sane(run):
            received, total = item.get("received"), item.get("total")
            if received is not None and total:
                expect(received <= total, "%d of %d" % (received, total))
        box.holds("file.bin", A)
        os.unlink(box.path("file.bin"))
