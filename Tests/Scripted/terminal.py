"""The terminal, and the figures on it: cases B118, B131, B137, B151, D08."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import termios
import time
import unicodedata

from common import MIB, Content, Text, at_most, broken_off, check, expect, one, visible
from shim import shim_environment

A = Content("a", MIB)


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
