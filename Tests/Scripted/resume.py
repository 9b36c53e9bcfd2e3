"""Resuming and ranges: cases B001 to B028."""
import os
import signal

from common import DATE, KIB, LATER, MIB, SLACK, Content, at_most, broken_off, check, expect, one, refetched
from shim import hold_publishing

A = Content("a", MIB)
B = Content("b", MIB)
BIG = Content("big", 8 * MIB)
AT = 400_000


@check("B001 a file that changed on the server is fetched anew, never spliced")
def changed(box):
    server = broken_off(box, A, lambda rq: rq.serve(B, modified=LATER))
    run = server.again(loud=True)
    box.holds("file.bin", B)
    first = server.log[server.mark]
    expect(first["if_range"] == '"%s"' % A.tag, "the resume was not conditional: If-Range %r" % first["if_range"])
    expect("chang" in run.err.lower(), "does not say that the remote file changed: " + run.said())
    at_most(server.body_sent - server.before, B.size + SLACK, "bytes of the second run")


@check("B001 an equal date with another strong ETag is a changed file")
def changed_etag_only(box):
    server = broken_off(box, A, lambda rq: rq.serve(B))
    server.again()
    box.holds("file.bin", B)


@check("B002 the partial of another URL is never applied to this one")
def other_url(box):
    big, small = BIG, Content("small", MIB)

    def handler(rq):
        if rq.path == "/small":
            return rq.serve(small)
        return rq.serve(big, stop_after=4 * MIB, ending="stall")

    server = one(box, handler)
    box.interrupted(server, 4 * MIB, "-c", 1, "-o", box.path("same"), server.url("/big"))
    run = box.get("-c", 1, "-o", box.path("same"), server.url("/small"))
    if run.rc == 0:
        box.holds("same", small, only=False)
    else:
        expect(run.rc == 3, "exit %d: %s" % (run.rc, run.said()))
        box.nothing_final()
    for entry in server.asked("/small"):
        start = (entry["range"] or "bytes=0-").split("=")[1].split("-")[0]
        expect(int(start) < small.size, "asked for %s of a file of 1 MiB" % entry["range"])
    expect("1844674407" not in run.err, "a wrapped counter: " + run.said())


@check("B003 a server that ignores Range on resume makes the download start over")
def ignores_range(box):
    server = broken_off(box, A, lambda rq: rq.serve(A, ranges=False))
    server.again()
    box.holds("file.bin", A)
    # Two answers are ended at their heads: the one to If-Range, and the one without it.
    at_most(refetched(server, A), AT + 2 * SLACK, "fetched again")


def answer_206(rq, content, start, end, content_range=True):
    headers = [("ETag", '"%s"' % content.tag), ("Last-Modified", DATE), ("Content-Length", end - start)]
    if content_range:
        headers.append(("Content-Range", "bytes %d-%d/%d" % (start, end - 1, content.size)))
    rq.head(206, headers)
    if rq.method != "HEAD":
        rq.stream(content, start, end)


@check("B006 a 206 that holds the whole file is not appended to the beginning")
def whole_206(box):
    server = broken_off(box, A, lambda rq: answer_206(rq, A, 0, A.size))
    server.again()
    box.holds("file.bin", A)
    at_most(refetched(server, A), AT + A.size, "fetched again")


@check("B007 a 206 that starts a little early is joined at its own offset or fetched anew")
def early_206(box):
    def second(rq):
        start = rq.start or 0
        answer_206(rq, A, max(0, start - 4096) if start else 0, A.size)

    server = broken_off(box, A, second)
    server.again()
    box.holds("file.bin", A)
    at_most(refetched(server, A), A.size + SLACK, "fetched again")


@check("B008 a 206 without Content-Range is not trusted")
def no_content_range(box):
    def second(rq):
        if rq.start:
            return answer_206(rq, A, rq.start, A.size, content_range=False)
        return rq.serve(A)

    server = broken_off(box, A, second)
    run = box.get(*server.command)
    if run.rc == 0:
        box.holds("file.bin", A)
    else:
        expect(run.rc == 7, "exit %d: %s" % (run.rc, run.said()))
        box.nothing_final()


@check("B011 a server that caps the length of ranges is asked for the rest (resumed)")
def capped_resume(box):
    server = broken_off(box, A, lambda rq: rq.serve(A, cap=100_000))
    server.again()
    box.holds("file.bin", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")
    at_most(len(server.log) - server.mark, 14, "requests")


@check("B011 a server that caps the length of ranges is asked for the rest (4 connections)")
def capped_segments(box):
    server = one(box, lambda rq: rq.serve(A, cap=100_000))
    box.ok("-c", 4, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)
    at_most(refetched(server, A), 4 * 100_000, "fetched again")


@check("B012 a finished file that is asked for again costs no body byte")
def again(box):
    server = one(box, lambda rq: rq.serve(A))
    for arguments in (("-o", box.path("file.bin")), ("-d", box.dl)):
        box.ok(*arguments, server.url())
        stamp, sent = os.stat(box.path("file.bin")).st_mtime_ns, server.body_sent
        box.ok(*arguments, server.url())
        box.holds("file.bin", A)
        expect(server.body_sent == sent, "%d body bytes were sent" % (server.body_sent - sent))
        expect(os.stat(box.path("file.bin")).st_mtime_ns == stamp, "the file was written again")
        os.unlink(box.path("file.bin"))


@check("B013 a 416 without Content-Range restarts an unfinished download")
def bare_416(box):
    def second(rq):
        if rq.start:
            return rq.error(416)
        return rq.serve(A)

    server = broken_off(box, A, second)
    server.again()
    box.holds("file.bin", A)
    at_most(refetched(server, A), AT + SLACK, "fetched again")


def drops_if_range(content):
    def handler(rq):
        if rq.get("if-range"):
            return rq.serve(content, ranges=False)
        return rq.serve(content)
    return handler


@check("B016 an If-Range that is answered 200 with the same validator is asked again without it")
def if_range_dropped(box):
    server = broken_off(box, BIG, drops_if_range(BIG), at=4 * MIB)
    server.again()
    box.holds("file.bin", BIG)
    at_most(refetched(server, BIG), 3 * MIB, "fetched again")


@check("B016 the same with four connections")
def if_range_dropped_segments(box):
    server = one(box, drops_if_range(BIG))
    box.ok("-c", 4, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", BIG)
    expect(all(e["status"] in (200, 206) for e in server.log), "an odd status")


@check("B017 a weak ETag is never sent in If-Range; the date decides")
def weak(box):
    options = {"etag": 'W/"%s"' % A.tag}
    server = broken_off(box, A, lambda rq: rq.serve(A, **options), options=options)
    server.again()
    box.holds("file.bin", A)
    for entry in server.log:
        expect(not (entry["if_range"] or "").startswith("W/"), "If-Range: %s" % entry["if_range"])
    at_most(refetched(server, A), AT + SLACK, "fetched again")


@check("B017 another file behind a weak ETag and a new date is not spliced")
def weak_changed(box):
    server = broken_off(box, A, lambda rq: rq.serve(B, etag='W/"other"', modified=LATER),
                        options={"etag": 'W/"%s"' % A.tag})
    server.again()
    box.holds("file.bin", B)


@check("B018 a strong ETag that differs restarts, although the bytes may be the same")
def etag_per_node(box):
    server = broken_off(box, A, lambda rq: rq.serve(A, etag='"node-2"'), options={"etag": '"node-1"'})
    server.again()
    box.holds("file.bin", A)
    expect(server.body_sent - server.before >= A.size, "bytes under two validators were joined without a proof")


@check("B018 with a checksum the bytes of two nodes may be joined, and are verified")
def etag_per_node_checksum(box):
    server = broken_off(box, A, lambda rq: rq.serve(A, etag='"node-2"'), "-o", box.path("file.bin"), "--checksum",
                        "sha256:" + A.sha256, options={"etag": '"node-1"'})
    server.again()
    box.holds("file.bin", A)


@check("B021 connections that end after 1 MiB neither lose bytes nor use up the retries")
def ends_every_mebibyte(box):
    server = one(box, lambda rq: rq.serve(BIG, stop_after=MIB))
    box.ok("-c", 1, "--retries", 2, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", BIG)
    at_most(refetched(server, BIG), MIB, "fetched again")


def stopped_by(box, number, codes):
    server = one(box, lambda rq: rq.serve(BIG, rate=8 * MIB))
    arguments = ("-c", 2, "-o", box.path("file.bin"), server.url())
    run = box.interrupted(server, 4 * MIB, *arguments, by=number, settle=0, loud=True)
    expect(run.rc in codes, "exit %d after the signal, not %s" % (run.rc, codes))
    expect(run.stop_seconds < 2, "lived on for %.1f s" % run.stop_seconds)
    box.nothing_final()
    expect(len(box.partials()) == 2, "partial and journal were not kept: %r" % box.tree())
    box.ok(*arguments)
    box.holds("file.bin", BIG)
    at_most(refetched(server, BIG), 2 * MIB, "fetched again")


@check("B022 SIGINT stops within 2 s with exit 130, and the next run goes on", weight=3)
def sigint(box):
    stopped_by(box, signal.SIGINT, (130,))


@check("B022 SIGTERM stops within 2 s with exit 143, and the next run goes on", weight=3)
def sigterm(box):
    stopped_by(box, signal.SIGTERM, (143,))


@check("B022 SIGHUP stops within 2 s with exit 129, and the next run goes on", weight=3)
def sighup(box):
    stopped_by(box, signal.SIGHUP, (129,))


@check("B023 two stalls in one run are resumed at the right offset", weight=4)
def stalls_twice(box):
    def handler(rq):
        if server.bump() <= 2:
            return rq.serve(A, stop_after=300_000, ending="stall")
        return rq.serve(A)

    server = one(box, handler)
    box.ok("-c", 1, "--stall-timeout", 1, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("B026 a fresh URL for an expired one goes on with the same bytes")
def fresh_url(box):
    def second(rq):
        if rq.path == "/old":
            return rq.error(403)
        return rq.serve(A)

    server = broken_off(box, A, second, "-o", box.path("file.bin"), "--refresh-command",
                        "cat " + os.path.join(box.root, "fresh"), path="/old?sig=1")
    box.write("fresh", server.url("/new?sig=2") + "\n")
    server.again()
    box.holds("file.bin", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("B026 a fresh URL that leads to another file does not get its bytes mixed in")
def fresh_url_other_file(box):
    def second(rq):
        if rq.path == "/old":
            return rq.error(403)
        return rq.serve(B, modified=LATER)

    server = broken_off(box, A, second, "-o", box.path("file.bin"), "--refresh-command",
                        "cat " + os.path.join(box.root, "fresh"), path="/old?sig=1")
    box.write("fresh", server.url("/new?sig=2") + "\n")
    run = box.get(*server.command)
    if run.rc == 0:
        box.holds("file.bin", B)
    else:
        box.nothing_final()


@check("B027 killed between the last byte and the final name: nothing is fetched again")
def killed_before_publishing(box):
    server = one(box, lambda rq: rq.serve(BIG))
    arguments = ("-c", 2, "-o", box.path("file.bin"), server.url())
    marker = hold_publishing(box, *arguments)
    expect(os.path.exists(marker), "the final name was given in a way that the check does not see")
    box.nothing_final()
    before = server.body_sent
    box.ok(*arguments)
    box.holds("file.bin", BIG)
    at_most(server.body_sent - before, 64 * KIB, "fetched again")


@check("B028 every segment names its end, whatever the type of the file")
def explicit_ends(box):
    server = one(box, lambda rq: rq.serve(BIG, kind="video/mp4", rate=6 * MIB))
    box.ok("-c", 4, "-o", box.path("film.mp4"), server.url("/film.mp4"))
    box.holds("film.mp4", BIG)
    starts = [e["range"] for e in server.log if e["range"] and not e["range"].startswith("bytes=0-")]
    expect(starts, "no segments were asked for")
    for value in starts:
        expect(not value.endswith("-"), "a segment without an end: %s" % value)
