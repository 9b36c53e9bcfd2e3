"""Is it really all there? Truncation, lengths, codings: cases B031 to B048. Probing: B061 to B063."""
import gzip
import json
import os
import re

from common import (FAILED_TRANSFER, KIB, MIB, Authority, Content, Text, at_most, broken_off, check, expect,
                    one, refetched)

A = Content("a", MIB)
WORDS = Text(b"".join(b"line %d of a text that compresses well\n" % n for n in range(40_000)), "words")
FEW = ("--retries", 2, "--retry-wait", 0.1)


def chunk(data):
    return b"%x\r\n" % len(data) + data + b"\r\n"


def truncated(box, handler, *more, tls=None):
    """A body that never comes whole must fail, and leave nothing at the final name."""
    server = one(box, handler, tls=tls)
    run = box.fails(FAILED_TRANSFER, *FEW, *more, "-o", box.path("file.bin"), server.url())
    box.nothing_final()
    return run


@check("B031 a chunked body that is cut at a chunk border is a failure")
def cut_at_border(box):
    def handler(rq):
        rq.head(200, [("Transfer-Encoding", "chunked")])
        rq.payload(chunk(A.read(0, 300_000)))
        rq.end("fin")
    truncated(box, handler)


@check("B032 a chunked body that is cut inside a chunk is a failure")
def cut_inside(box):
    def handler(rq):
        rq.head(200, [("Transfer-Encoding", "chunked")])
        rq.payload(b"%x\r\n" % 500_000 + A.read(0, 300_000))
        rq.end("fin")
    truncated(box, handler)


@check("B032 a chunked body without the last line break is a failure, or whole")
def cut_trailer(box):
    def handler(rq):
        rq.head(200, [("Transfer-Encoding", "chunked")])
        rq.payload(chunk(A.all()) + b"0\r\n")
        rq.end("fin")
    server = one(box, handler)
    run = box.get(*FEW, "-o", box.path("file.bin"), server.url())
    if run.rc == 0:
        box.holds("file.bin", A)
    else:
        expect(run.rc in FAILED_TRANSFER, "exit %d" % run.rc)
        box.nothing_final()


def without_length(ending):
    def handler(rq):
        rq.connection.keep = False
        rq.head(200, [("Content-Type", "application/octet-stream"), ("Connection", "close")])
        if ending == "fin":
            rq.stream(A, 0, A.size)
        else:
            rq.stream(A, 0, 600_000)
        rq.end(ending)
    return handler


@check("B033 a body without length that ends with a clean close is whole, and flagged")
def close_ends(box):
    server = one(box, without_length("fin"))
    run = box.ok("-o", box.path("file.bin"), server.url(), loud=True)
    box.holds("file.bin", A)
    expect("length" in run.err.lower() or "verif" in run.err.lower(),
           "does not say that the length was unknown: " + run.said())


@check("B033 a body without length that ends with a reset is a failure")
def reset_ends(box):
    truncated(box, without_length("reset"))


@check("B033 a body without length whose TLS ends without close_notify is a failure")
def tls_cut(box):
    authority = Authority(os.path.join(box.root, "tls"))
    server = one(box, without_length("abort"), tls=authority.context())
    box.fails((4, 5, 7), *FEW, "--cacert", authority.ca, "-o", box.path("file.bin"), server.url())
    box.nothing_final()


@check("B033 a body without length over TLS that ends with close_notify is whole")
def tls_clean(box):
    authority = Authority(os.path.join(box.root, "tls"))
    server = one(box, without_length("fin"), tls=authority.context())
    box.ok("--cacert", authority.ca, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("B036 bytes beyond Content-Length are not stored")
def too_long(box):
    first = Text(A.read(0, 500_000))

    def handler(rq):
        rq.head(200, [("Content-Length", first.size), ("Content-Type", "application/octet-stream")])
        rq.stream(A, 0, A.size)
        rq.end("fin")
    server = one(box, handler)
    box.ok("-o", box.path("file.bin"), server.url())
    box.holds("file.bin", first)


@check("B037 chunked wins over Content-Length, or the answer is refused")
def both_lengths(box):
    def handler(rq):
        rq.connection.keep = False
        rq.head(200, [("Content-Length", 3), ("Transfer-Encoding", "chunked")])
        rq.payload(chunk(b"abcde") + b"0\r\n\r\n")
    server = one(box, handler)
    run = box.get(*FEW, "-o", box.path("file.bin"), server.url())
    if run.rc == 0:
        box.holds("file.bin", Text(b"abcde"))
    else:
        expect(run.rc == 7, "exit %d" % run.rc)
        box.nothing_final()


PACKED = Text(gzip.compress(WORDS.data, mtime=0), "packed")


def coded(rq, **options):
    rq.serve(PACKED, ranges=False, kind="text/plain", headers=[("Content-Encoding", "gzip")], **options)


@check("B038 a body that is coded unasked is decoded, and the progress stays within 100 %")
def unasked_gzip(box):
    server = one(box, lambda rq: coded(rq, rate=200_000) if server.bump() else None)
    run = box.ok("--progress", "json", "-d", box.dl, server.url("/words.txt"), loud=True)
    box.holds("words.txt", WORDS)
    accepts = [v for e in server.log for k, v in e["headers"] if k.lower() == "accept-encoding"]
    expect(accepts and all(v == "identity" for v in accepts), "Accept-Encoding: %r" % accepts)
    for line in (run.err + run.out).splitlines():
        if line.startswith("{"):
            for key, value in json.loads(line).items():
                if key in ("fraction", "percent", "progress") and isinstance(value, (int, float)):
                    expect(0 <= value <= (100 if key == "percent" else 1), "progress %r: %r" % (key, value))


@check("B041 a coded body is not resumed but fetched anew")
def coded_resume(box):
    server = broken_off(box, PACKED, coded, "-d", box.dl, path="/words.txt", at=40_000,
                        first=lambda rq: coded(rq, stop_after=40_000, ending="stall"))
    server.again()
    box.holds("words.txt", WORDS)
    expect(server.body_sent - server.before == PACKED.size, "it was not fetched anew")


@check("B042 an error page is never the file")
def error_pages(box):
    server = one(box, lambda rq: rq.error(int(rq.path[2:5]), text="secret page text"))
    for status, codes in ((404, 8), (500, 8), (410, 8), (403, (6, 8))):
        run = box.fails(codes, "--retries", 0, "-d", box.dl, server.url("/s%d.bin" % status))
        expect(str(status) in run.err and server.url("/s%d.bin" % status) in run.err,
               "status or URL is not in the message: " + run.said())
        expect("secret page text" not in run.err, "the body of the error was printed")
        expect(not box.tree(), "left over: %r" % box.tree())


PAGE = b"<html>too many requests, come back later</html>" + b" " * 500


@check("B043 a throttle page with status 200 in answer to a range is tried again, not stored")
def throttle_page(box):
    big = Content("zip", 5 * MIB)

    def handler(rq):
        if rq.start and server.bump() <= 2:
            return rq.reply(200, [("Content-Type", "text/html")], PAGE)
        return rq.serve(big, kind="application/zip", rate=8 * MIB)
    server = one(box, handler)
    box.ok("-c", 3, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", big)


@check("B046 a truncated body with a checksum is called truncated, not a mismatch")
def truncated_with_checksum(box):
    run = truncated(box, lambda rq: rq.serve(A, ranges=False, stop_at=A.size - 1000), "--checksum",
                    "sha256:" + A.sha256)
    expect("mismatch" not in run.err.lower(), "blames the checksum: " + run.said())


@check("B047 a server that closes at 90 % of every answer is followed to the end")
def ninety_percent(box):
    def handler(rq):
        span = rq.span(A.size)
        length = span[1] - span[0] if isinstance(span, tuple) else A.size
        rq.serve(A, stop_after=max(1, length * 9 // 10))
    server = one(box, handler)
    box.ok("-c", 1, "--retry-wait", 0.1, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("B048 a short file at the final name is not taken for the download")
def short_file(box):
    half = A.read(0, A.size // 2)
    server = one(box, lambda rq: rq.serve(A))
    with open(box.path("file.bin"), "wb") as file:
        file.write(half)
    box.ok("-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("B048 a user's file under a suggested name stays, the download gets a number")
def short_file_suggested(box):
    half = Text(A.read(0, A.size // 2))
    server = one(box, lambda rq: rq.serve(A))
    with open(box.path("file.bin"), "wb") as file:
        file.write(half.data)
    run = box.ok("-d", box.dl, server.url())
    box.holds("file.bin", half, only=False)
    box.holds("file (1).bin", A, only=False)
    expect(run.paths == [box.path("file (1).bin")], "standard output: %r" % run.out)


# ---------------------------------------------------------------- probing
def head_refused(status):
    def function(box):
        def handler(rq):
            if rq.method == "HEAD":
                if status is None:
                    rq.end("fin")
                return rq.error(status)
            return rq.serve(A)
        server = one(box, handler)
        box.ok("-c", 1, "-o", box.path("file.bin"), server.url())
        box.holds("file.bin", A)
        at_most(len(server.log), 2, "requests")
    return function


for refused in (405, 501, 403, 404, None):
    check("B061 HEAD refused (%s) does not matter" % (refused or "closed without a word"))(head_refused(refused))


@check("B062 a HEAD that lies about the length does not matter")
def head_lies(box):
    def handler(rq):
        if rq.method == "HEAD":
            return rq.reply(200, [("Content-Length", 0), ("Content-Type", "text/html")])
        return rq.serve(A)
    server = one(box, handler)
    box.ok("-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("B063 a cookie of the first answer goes with the other requests of the download")
def cookie_of_first(box):
    def handler(rq):
        if "seen=1" in (rq.get("cookie") or ""):
            return rq.serve(A)
        if server.bump() > 1:
            return rq.error(403)
        rq.connection.keep = False
        rq.head(200, [("Transfer-Encoding", "chunked"), ("Set-Cookie", "seen=1; Path=/")])
        rq.payload(chunk(A.read(0, 200_000)))
        rq.end("fin")
    server = one(box, handler)
    box.ok("-c", 2, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("B132 an empty file: Content-Length 0, chunked, and close-delimited")
def empty(box):
    def handler(rq):
        if rq.path == "/length":
            return rq.serve(Text(b""))
        if rq.path == "/416":
            if rq.get("range"):
                return rq.reply(416, [("Content-Range", "bytes */0")])
            return rq.reply(200)
        rq.connection.keep = False
        if rq.path == "/chunked":
            rq.head(200, [("Transfer-Encoding", "chunked")])
            return rq.raw(b"0\r\n\r\n")
        rq.head(200, [("Connection", "close")])
        return rq.end("fin")
    server = one(box, handler)
    for path in ("/length", "/416", "/chunked", "/close"):
        run = box.ok("--progress", "json", "-o", box.path("empty"), server.url(path), loud=True)
        box.holds("empty", Text(b""))
        expect(not re.search(r"(?i)[:= ](-\d|-?(nan|inf|infinity)\b)", run.err), "an odd number: " + run.said())
        os.unlink(box.path("empty"))


# ---------------------------------------------------------------- odd answers
@check("D03 impossible lengths are refused, and no file is kept")
def impossible_lengths(box):
    values = {"/huge": ["99999999999999999999"], "/negative": ["-5"], "/two": ["3", "5"]}

    def handler(rq):
        rq.connection.keep = False
        rq.head(200, [("Content-Length", v) for v in values[rq.path]])
        rq.payload(b"abcde")
        rq.end("fin")
    server = one(box, handler)
    for path in values:
        box.fails((4, 7), *FEW, "-o", box.path("file.bin"), server.url(path))
        box.nothing_final()


@check("D11 interim answers before the final one are skipped")
def interim(box):
    def handler(rq):
        rq.raw(b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
        rq.raw(b"HTTP/1.1 102 Processing\r\n\r\n")
        rq.serve(A)
    server = one(box, handler)
    box.ok("-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("D11 a 206 to the first request that does not cover the file is not the file")
def partial_unasked(box):
    def handler(rq):
        if rq.start:
            return rq.serve(A)
        rq.head(206, [("Content-Range", "bytes 0-99999/%d" % A.size), ("Content-Length", 100_000),
                      ("ETag", '"%s"' % A.tag)])
        return rq.stream(A, 0, 100_000)
    server = one(box, handler)
    box.ok("-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("D11 204 is a failure or an empty file, never a wrong one")
def no_content(box):
    server = one(box, lambda rq: rq.reply(204))
    run = box.get(*FEW, "-o", box.path("file.bin"), server.url())
    if run.rc == 0:
        box.holds("file.bin", Text(b""))
    else:
        expect(run.rc in (7, 8), "exit %d" % run.rc)
        box.nothing_final()


@check("D12 a captive portal's login page neither ends nor spoils a resume")
def captive_portal(box):
    login = b"<html><form>log in to this network</form></html>"

    def second(rq):
        if server.state.get("online"):
            return rq.serve(A)
        if rq.path == "/login":
            return rq.reply(200, [("Content-Type", "text/html")], login)
        return rq.redirect("/login")
    server = broken_off(box, A, second)
    run = box.get(*FEW, *server.command)
    expect(run.rc != 0, "the login page was taken for the file")
    box.nothing_final()
    server.state["online"] = True
    before = server.body_sent
    server.again()
    box.holds("file.bin", A)
    at_most(server.body_sent - before, A.size - 400_000 + 64 * KIB, "fetched after the portal")
