"""File names and twins: cases B086 to B097, D06, D07."""
import os
import threading

from common import KIB, MIB, Content, at_most, broken_off, check, expect, one, refetched, visible, wait_until

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
