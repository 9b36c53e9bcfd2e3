"""Where the file goes, crashes, many items: cases B098 to B121, B127 to B148."""
import os
import resource
import shutil
import signal
import time

from common import (KIB, MIB, Content, Text, at_most, broken_off, check, expect, one, refetched, wait_until)
from shim import shim_environment

A = Content("a", MIB)
BIG = Content("big", 8 * MIB)
NOBODY = 65534


@check("B098 too little room is found before the body, and said with figures")
def no_room(box):
    box.tmpfs("size=4m")
    server = one(box, lambda rq: rq.serve(BIG, rate=4 * MIB))
    run = box.fails(3, "-c", 1, "-o", box.path("file.bin"), server.url(), loud=True)
    expect("8.0" in run.err or "8388608" in run.err or "8,388,608" in run.err,
           "does not say how much is needed: " + run.said())
    at_most(server.body_sent, MIB, "body bytes")
    box.nothing_final()


@check("B098 a disk that fills up in mid-body keeps the bytes, and goes on when there is room", weight=3)
def fills_up(box):
    box.tmpfs("size=24m")
    server = one(box, lambda rq: rq.serve(BIG, rate=6 * MIB))
    arguments = ("-c", 1, "-o", box.path("file.bin"), server.url())
    live = box.start(*arguments, env=shim_environment(box, no_fallocate=1))
    wait_until(lambda: server.body_sent > MIB or not live.running(), 10, "the first mebibyte")
    # Unbuffered: bytes that found no room must not be written again when the file is closed.
    with open(box.path("ballast"), "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(256 * KIB))
        except OSError:
            pass
    try:
        os.truncate(box.path("ballast"), os.path.getsize(box.path("ballast")))
    except OSError:
        pass
    run = live.wait(30)
    box.runs.append(run)
    expect(run.rc == 3, "exit %d on a full disk: %s" % (run.rc, run.said()))
    expect(not os.path.exists(box.path("file.bin")), "a file stands at the final name")
    for name in box.partials():
        expect(os.path.getsize(box.path(name)) > 0, "%s is empty" % name)
    os.unlink(box.path("ballast"))
    before = server.body_sent
    box.ok(*arguments)
    box.holds("file.bin", BIG)
    at_most(server.body_sent, BIG.size + 2 * MIB, "sent in all (%d in the second run)" % (server.body_sent - before))


@check("B101 unknown length on a small disk fails, and works once there is room")
def unknown_length(box):
    box.tmpfs("size=4m")
    server = one(box, lambda rq: rq.serve(BIG, ranges=False, length=None))
    arguments = ("-o", box.path("file.bin"), server.url())
    box.fails(3, *arguments)
    box.nothing_final()
    box.tmpfs("remount,size=32m")
    box.ok(*arguments)
    box.holds("file.bin", BIG)


@check("B102 a file-size limit is a disk failure, not a death by SIGXFSZ")
def size_limit(box):
    server = one(box, lambda rq: rq.serve(BIG))
    run = box.fails(3, "-o", box.path("file.bin"), server.url(),
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (MIB, MIB)))
    expect("large" in run.err.lower() or "limit" in run.err.lower(), "does not name the limit: " + run.said())
    box.nothing_final()


@check("B103 a file system without fallocate is no failure")
def no_fallocate(box):
    server = one(box, lambda rq: rq.serve(BIG))
    box.ok("-c", 3, "-o", box.path("file.bin"), server.url(), env=shim_environment(box, no_fallocate=1))
    box.holds("file.bin", BIG)


@check("B106 an output that is a directory gets the file under its suggested name")
def directory_target(box):
    os.mkdir(box.path("f"))
    server = one(box, lambda rq: rq.serve(A))
    box.ok("-o", box.path("f"), server.url("/given.bin"))
    expect(box.tree() == ["f/", "f/given.bin"], "there is %r" % box.tree())
    box.holds("f/given.bin", A, only=False)


@check("B107 a failed replacement leaves the old file as it was")
def old_stays(box):
    server = one(box, lambda rq: rq.serve(A, ranges=False, stop_at=500_000))
    with open(box.path("file.bin"), "wb") as file:
        file.write(b"old")
    box.fails((4, 7), "--retries", 1, "--if-exists", "replace", "-o", box.path("file.bin"), server.url())
    with open(box.path("file.bin"), "rb") as file:
        expect(file.read() == b"old", "the old file was changed")


@check("B108 a directory that cannot be written is a disk failure with path and reason")
def not_writable(box):
    os.chmod(box.dl, 0o555)
    server = one(box, lambda rq: rq.serve(A))
    run = box.fails(3, "-o", box.path("file.bin"), server.url(), user=NOBODY, group=NOBODY, cwd="/")
    expect(box.dl in run.err and "ermission" in run.err, "path or reason is not named: " + run.said())
    os.chmod(box.dl, 0o755)
    os.chown(box.dl, NOBODY, NOBODY)
    box.ok("-o", box.path("file.bin"), server.url(), user=NOBODY, group=NOBODY, cwd="/")
    box.holds("file.bin", A)


@check("B108 a disk that becomes read-only half-way is a disk failure, and resumed when mended", weight=2)
def becomes_read_only(box):
    flag = os.path.join(box.root, "read-only")
    server = one(box, lambda rq: rq.serve(BIG, rate=6 * MIB))
    arguments = ("-c", 1, "-o", box.path("file.bin"), server.url())
    live = box.start(*arguments, env=shim_environment(box, fail_readonly=flag))
    wait_until(lambda: server.body_sent > 3 * MIB or not live.running(), 10, "three mebibytes")
    open(flag, "w").close()
    run = live.wait(20)
    box.runs.append(run)
    expect(run.rc == 3, "exit %d: %s" % (run.rc, run.said()))
    box.nothing_final()
    box.ok(*arguments)
    box.holds("file.bin", BIG)
    at_most(refetched(server, BIG), 2 * MIB, "fetched again")


# ---------------------------------------------------------------- crashes
@check("B112 a kill one second after the start loses at most a mebibyte a connection", weight=2)
def early_kill(box):
    server = one(box, lambda rq: rq.serve(BIG, rate=MIB))
    arguments = ("-c", 3, "-o", box.path("file.bin"), server.url())
    live = box.start(*arguments)
    time.sleep(1)
    live.signal(signal.SIGKILL)
    live.wait(5)
    expect(box.partials(), "no work file after a second")
    before = server.body_sent
    expect(before > 500_000, "only %d bytes were asked for in a second" % before)
    box.ok(*arguments)
    box.holds("file.bin", BIG)
    at_most(refetched(server, BIG), 3 * MIB, "fetched again")


BOOT_ID = "/proc/sys/kernel/random/boot_id"


@check("B113 after a power cut only synced bytes count, and the file is exact", weight=6)
def power_cut(box):
    content = Content("power", 96 * MIB)
    snapshots = os.path.join(box.root, "snapshots")
    os.mkdir(snapshots)
    server = one(box, lambda rq: rq.serve(content, rate=16 * MIB))
    arguments = ("-c", 2, "-o", box.path("file.bin"), server.url())
    box.interrupted(server, 70 * MIB, *arguments, settle=0,
                    env=shim_environment(box, snapshots=snapshots))
    part = box.path("file.bin.part")
    size = os.path.getsize(part)
    held = os.path.join(snapshots, "part")
    # What a disk may hold after the cut: the newest journal, and only the data that was synced.
    if os.path.exists(held):
        with open(held, "rb") as source, open(part, "r+b") as target:
            target.truncate(0)
            shutil.copyfileobj(source, target, MIB)
            target.truncate(size)
    else:
        with open(part, "r+b") as target:
            target.truncate(0)
            target.truncate(size)
    fake = box.write("boot_id", "11111111-2222-3333-4444-555555555555\n")
    before = server.body_sent
    run = box.ok(*arguments, limit=60, prefix=["unshare", "-m", "sh", "-c",
                 'mount --make-rprivate / && mount --bind "$0" %s && exec "$@"' % BOOT_ID, fake])
    box.holds("file.bin", content)
    kept = content.size - (server.body_sent - before)
    expect(kept >= 0, "more than the file was fetched after the cut")
    expect(run.rc == 0, "exit %d" % run.rc)


@check("B121 partial and journal moved to another directory are resumed there")
def moved(box):
    server = broken_off(box, A, lambda rq: rq.serve(A))
    other = os.path.join(box.root, "elsewhere")
    os.mkdir(other)
    for name in box.partials():
        os.rename(box.path(name), os.path.join(other, name))
    box.ok("-c", 1, "-o", os.path.join(other, "file.bin"), server.url())
    box.holds(os.path.join(other, "file.bin"), A, only=False)
    expect(os.listdir(other) == ["file.bin"], "there is %r" % os.listdir(other))
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("B113 a torn, emptied or zeroed journal is never trusted and never fatal")
def damaged_journal(box):
    for damage in ("torn", "empty", "zeros", "noise"):
        server = broken_off(box, A, lambda rq: rq.serve(A))
        path = box.path("file.bin.part.haul")
        size = os.path.getsize(path)
        with open(path, "r+b") as file:
            if damage == "torn":
                file.truncate(max(1, size - 3))
            elif damage == "empty":
                file.truncate(0)
            else:
                file.write(bytes(size) if damage == "zeros" else Content("noise", size).all())
        server.again()
        box.holds("file.bin", A)
        os.unlink(box.path("file.bin"))


# ---------------------------------------------------------------- many items
@check("B128 a failed download can be started again and goes on where it was")
def failed_then_again(box):
    def second(rq):
        return rq.error(404) if server.state.get("gone") else rq.serve(A)
    server = broken_off(box, A, second)
    for status_gone in (True, False):
        server.state["gone"] = status_gone
        run = box.get(*server.command)
        expect(run.rc == (8 if status_gone else 0), "exit %d: %s" % (run.rc, run.said()))
        if status_gone:
            box.nothing_final()
    box.holds("file.bin", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("B148 the failure of some downloads of a list does not hold up the others")
def some_fail(box):
    small = Content("small", 20_000)

    def handler(rq):
        if rq.path == "/f2":
            return rq.error(404)
        return rq.serve(small)
    server = one(box, handler)
    urls = [server.url("/f%d" % n) for n in range(10)]
    urls[4] = "http://no-such-host.invalid/f4"
    lines = box.write("list.txt", "\n".join(urls) + "\n")
    run = box.get("-i", lines, "--retries", 0, "-d", box.dl, limit=60)
    expect(run.rc == 8, "exit %d, not that of the first failure in the list: %s" % (run.rc, run.said()))
    expect(box.finals() == ["f%d" % n for n in (0, 1, 3, 5, 6, 7, 8, 9)], "files: %r" % box.finals())
    expect("/f2" in run.err and "no-such-host" in run.err, "a failure is not listed: " + run.said())


@check("B133 a list of 500,000 URLs starts and stays small", weight=4, alone=True)
def long_list(box):
    tiny = Text(b"x" * 64)
    server = one(box, lambda rq: rq.serve(tiny))
    with open(os.path.join(box.root, "list.txt"), "w") as file:
        for number in range(500_000):
            file.write(server.url("/n/%06d" % number) + "\n")
    live = box.start("-i", os.path.join(box.root, "list.txt"), "-d", box.dl)
    wait_until(lambda: server.log or not live.running(), 60, "the first request")
    time.sleep(3)
    expect(live.running(), "it ended: " + live.wait(1).said() if not live.running() else "")
    rss = memory(live.pid)
    live.signal(signal.SIGINT)
    run = live.wait(15)
    expect(run.rc == 130, "exit %d after SIGINT" % run.rc)
    at_most(rss, 200 * MIB, "resident memory")


def memory(pid):
    with open("/proc/%d/status" % pid) as file:
        for line in file:
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    return 0


@check("B138 5,000 small downloads leave no threads, descriptors or memory behind", weight=6, alone=True)
def many_small(box):
    tiny = Text(b"y" * 512)
    server = one(box, lambda rq: rq.serve(tiny))
    lines = box.write("list.txt", "".join(server.url("/n/%04d\n" % n) for n in range(5000)))
    box.tmpfs("size=200m")
    live = box.start("-i", lines, "-d", box.dl)
    figures = []
    while live.running():
        count = len(server.log)
        try:
            figures.append((count, memory(live.pid), len(os.listdir("/proc/%d/fd" % live.pid)),
                            len(os.listdir("/proc/%d/task" % live.pid))))
        except OSError:
            break
        time.sleep(0.05)
        expect(time.monotonic() - live.start < 120, "takes longer than 120 s")
    run = live.wait(5)
    box.runs.append(run)
    expect(run.rc == 0, "exit %d: %s" % (run.rc, run.said()))
    expect(len(box.finals()) == 5000, "%d files" % len(box.finals()))
    early = [f for f in figures if 100 <= f[0] <= 1500] or figures[:3]
    late = [f for f in figures if f[0] >= 4000] or figures[-3:]
    for index, what, slack in ((1, "memory", 24 * MIB), (2, "descriptors", 16), (3, "threads", 4)):
        low, high = max(f[index] for f in early), max(f[index] for f in late)
        at_most(high, low + slack, "%s at the end (%d early on)" % (what, low))
