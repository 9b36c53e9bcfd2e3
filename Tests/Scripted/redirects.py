"""Redirects, URLs, secrets: cases B051 to B058, B152 to B156, D01, D02, D04, D05, D09, D10, B146."""
import base64
import os

from common import (KIB, MIB, Authority, Content, at_most, broken_off, check, expect, one, refetched,
                    wait_until)

A = Content("a", MIB)
SMALL = Content("small", 20_000)


@check("B051 a redirect from https to http is refused unless allowed")
def downgrade(box):
    authority = Authority(os.path.join(box.root, "tls"))
    plain = one(box, lambda rq: rq.serve(A))
    secure = one(box, lambda rq: rq.redirect(plain.url()), tls=authority.context())
    command = ("--cacert", authority.ca, "--user", "u:secret-word", "-o", box.path("file.bin"), secure.url("/x"))
    run = box.fails((5, 7), *command)
    expect(not plain.log, "the plain server was asked")
    expect(plain.url() in run.err, "the target is not named: " + run.said())
    box.nothing_final()
    box.ok("--allow-downgrade", *command)
    box.holds("file.bin", A)
    expect(not any("authorization" in k.lower() for e in plain.log for k, _ in e["headers"]),
           "credentials went in clear")


@check("B052 redirect loops end after at most 20 hops and are not tried again")
def loops(box):
    def handler(rq):
        rq.redirect({"/self": "/self", "/a": "/b", "/b": "/a"}[rq.path])
    for path in ("/self", "/a"):
        server = one(box, handler)
        run = box.fails((7, 8), "-o", box.path("file.bin"), server.url(path))
        at_most(len(server.log), 22, "requests")
        expect("redirect" in run.err.lower(), "does not name redirects: " + run.said())
        expect(not box.tree(), "left over: %r" % box.tree())


@check("B053 a space and raw UTF-8 in Location are sent percent-encoded")
def odd_location(box):
    targets = {"/space": "/ok/a b.bin", "/raw": "/ok/ü.bin"}

    def handler(rq):
        if rq.path in targets:
            return rq.redirect(targets[rq.path])
        return rq.serve(A)
    server = one(box, handler)
    for path, wire, name in (("/space", "/ok/a%20b.bin", "a b.bin"), ("/raw", "/ok/%C3%BC.bin", "ü.bin")):
        box.ok("-d", box.dl, server.url(path))
        expect(server.log[-1]["target"].replace("%c3%bc", "%C3%BC") == wire, "sent %r" % server.log[-1]["target"])
        box.holds(name, A)
        os.unlink(box.path(name))


@check("B056 a fragment is neither sent nor part of the name")
def fragments(box):
    server = one(box, lambda rq: rq.redirect("/ok/f.bin#sec") if rq.path == "/r" else rq.serve(A))
    for url, name in ((server.url("/f.bin#/new.pem"), "f.bin"), (server.url("/r"), "f.bin")):
        box.ok("-d", box.dl, url)
        box.holds(name, A)
        os.unlink(box.path(name))
    expect(not any("#" in e["target"] for e in server.log), "a fragment was sent")


@check("B057 the final URL names the file, and the name stays when the target changes before a resume")
def name_after_redirect(box):
    def redirects(target):
        def handler(rq):
            if rq.path == "/download":
                return rq.redirect(target)
            if server_state["second"]:
                return rq.serve(A)
            return rq.serve(A, stop_after=400_000, ending="stall")
        return handler
    server_state = {"second": False}

    def second(rq):
        server_state["second"] = True
        return redirects("/real-1.3.deb")(rq)
    server = broken_off(box, A, second, "-d", box.dl, path="/download?p=1", first=redirects("/real-1.2.deb"))
    server.again()
    box.holds("real-1.2.deb", A)
    at_most(refetched(server, A), 64 * KIB, "fetched again")


@check("B058 a password with @, : and / survives a relative redirect")
def odd_password(box):
    wanted = "Basic " + base64.b64encode(b"u:p@ss:w/1").decode()

    def handler(rq):
        if rq.get("authorization") != wanted:
            return rq.error(401, [("WWW-Authenticate", 'Basic realm="x"')])
        return rq.serve(A) if rq.path == "/path/" else rq.redirect("/path/")
    server = one(box, handler)
    box.ok("--user", "u:p@ss:w/1", "-o", box.path("file.bin"), server.url("/x"))
    box.holds("file.bin", A)


# ---------------------------------------------------------------- URLs
@check("B152 spaces and raw Unicode in a URL are sent percent-encoded")
def raw_url(box):
    server = one(box, lambda rq: rq.serve(SMALL))
    for target, wire in (("/x/a b", "/x/a%20b"), ("/x/ünï", "/x/%C3%BCn%C3%AF")):
        box.ok("-o", box.path("file"), server.url(target))
        expect(server.log[-1]["target"].upper() == wire.upper(), "sent %r" % server.log[-1]["target"])
        box.holds("file", SMALL)


@check("B153 the request target is byte-identical to what was given, also on resume")
def target_kept(box):
    for target in ("/x/a+b%2Fc%25?s=A+B%2B/%2f==", "/x?link=http://a/b?x=1&y=2", "/x//y"):
        server = broken_off(box, A, lambda rq: rq.serve(A), path=target)
        server.again()
        box.holds("file.bin", A)
        sent = {e["target"] for e in server.log}
        expect(sent == {target}, "sent %r for %r" % (sent, target))
        os.unlink(box.path("file.bin"))


@check("B156 a URL with only a query does not make a name of the query's syntax")
def query_only(box):
    server = one(box, lambda rq: rq.serve(SMALL))
    run = box.ok("-d", box.dl, server.url("/?product=x&os=l"))
    names = box.finals()
    expect(len(names) == 1 and not set("?&=") & set(names[0]), "named %r" % names)
    expect(run.paths == [box.path(names[0])], "standard output: %r" % run.out)
    box.holds(names[0], SMALL)


@check("D01 a redirect to another scheme is refused, and no local file is read")
def other_scheme(box):
    secret = box.write("secret.txt", "local contents\n")
    for location in ("file://" + secret, "ftp://127.0.0.1/x", "gopher://127.0.0.1/x", "javascript:alert(1)"):
        server = one(box, lambda rq, location=location: rq.redirect(location))
        box.fails((2, 7, 8), "--retries", 1, "-o", box.path("file.bin"), server.url("/x"))
        expect(not box.tree(), "left over: %r" % box.tree())


@check("D02 POST: 301 to 303 become GET, 307 and 308 keep method and body")
def post_redirects(box):
    def handler(rq):
        if rq.path != "/end":
            return rq.redirect("/end", int(rq.path[2:]))
        return rq.serve(SMALL, ranges=False)
    server = one(box, handler)
    for status in (301, 302, 303, 307, 308):
        box.ok("--method", "POST", "--data", "a=1&b=2", "-o", box.path("file"), server.url("/s%d" % status))
        box.holds("file", SMALL)
        first, last = server.log[-2], server.log[-1]
        expect(first["method"] == "POST" and first["body"] == b"a=1&b=2", "the POST itself: %r" % first)
        wanted = ("POST", b"a=1&b=2") if status in (307, 308) else ("GET", b"")
        expect((last["method"], last["body"]) == wanted, "after %d: %s %r" % (status, last["method"], last["body"]))


@check("D04 impossible ports are a usage error, without a connection")
def impossible_ports(box):
    for port in ("0", "99999", "-1", "x"):
        run = box.fails(2, "-o", box.path("file.bin"), "http://127.0.0.1:%s/file" % port)
        expect(run.seconds < 2, "took %.1f s" % run.seconds)
        expect(not box.tree(), "left over: %r" % box.tree())


@check("D05 a URL of 9,000 bytes is sent whole, a name of 300 bytes is cut")
def long_url(box):
    server = one(box, lambda rq: rq.serve(SMALL))
    target = "/" + "n" * 296 + ".bin?q=" + "v" * 8700
    box.ok("-d", box.dl, server.url(target))
    expect(server.log[-1]["target"] == target, "the target was changed")
    names = box.finals()
    expect(len(names) == 1 and names[0].endswith(".bin") and len(names[0].encode()) <= 231, "named %r" % names)
    box.holds(names[0], SMALL)


@check("D09 an international host name is sent in its ASCII form")
def idn(box):
    server = one(box, lambda rq: rq.serve(SMALL))
    box.ok("--resolve", "xn--bcher-kva.test:%d:127.0.0.1" % server.port, "-o", box.path("file"),
           server.url("/x", host="bücher.test"))
    box.holds("file", SMALL)
    host = dict((k.lower(), v) for k, v in server.log[-1]["headers"])["host"]
    expect(host == "xn--bcher-kva.test:%d" % server.port, "Host: %r" % host)


@check("D10 user info is decoded into Basic and shows nowhere else")
def user_info(box):
    wanted = "Basic " + base64.b64encode(b"us@r:pa:ss-word").decode()

    def handler(rq):
        if rq.get("authorization") != wanted:
            return rq.error(401, [("WWW-Authenticate", 'Basic realm="x"')])
        return rq.serve(SMALL) if rq.path == "/f.bin" else rq.error(404)
    server = one(box, handler)
    run = box.ok("-d", box.dl, server.url("/f.bin", user="us%40r:pa%3Ass-word"), loud=True)
    box.holds("f.bin", SMALL)
    bad = box.fails(8, "-v", "-d", box.dl, server.url("/no.bin", user="us%40r:pa%3Ass-word"), loud=True)
    for text in (run.err, run.out, bad.err, bad.out):
        expect("pa%3Ass-word" not in text and "pa:ss-word" not in text, "the password was printed")
    for entry in server.log:
        headers = dict((k.lower(), v) for k, v in entry["headers"])
        expect("@" not in headers["host"] + entry["target"] + headers.get("referer", ""), "user info was sent")


@check("B146 no secret shows in the process list, the output, the journal or attributes")
def secrets(box):
    secrets_given = ["user-pass-word", "bearer-to-ken", "header-va-lue", "query-sig-nature", "cookie-va-lue"]
    server = one(box, lambda rq: rq.serve(A, rate=MIB // 2))
    cookies = box.write("cookies.txt", "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\ts\tcookie-va-lue\n",
                        0o600)
    target = server.url("/file.bin?X-Amz-Signature=query-sig-nature", user="u:user-pass-word")
    live = box.start("-v", "--header", "X-Api-Key: header-va-lue", "--bearer", "bearer-to-ken", "--cookies", cookies,
                     "-d", box.dl, target, loud=True)
    wait_until(lambda: box.partials() or not live.running(), 10, "a work file")
    with open("/proc/%d/cmdline" % live.pid, "rb") as file:
        line = file.read()
    stored = b"".join(_read(os.path.join(box.dl, n)) + _attributes(os.path.join(box.dl, n)) for n in box.partials())
    modes = [os.stat(os.path.join(box.dl, n)).st_mode & 0o077 for n in box.partials() if n.endswith(".haul")]
    run = live.wait(30)
    box.runs.append(run)
    for name in box.tree():
        stored += _attributes(os.path.join(box.dl, name))
    for here, _, files in os.walk(box.home):
        for name in files:
            stored += _read(os.path.join(here, name))
    for secret in secrets_given:
        expect(secret.encode() not in stored, "%s is in a work file or an attribute" % secret)
        expect(secret not in run.err + run.out, "%s was printed" % secret)
        expect(secret.encode() not in line, "%s is in the process list" % secret)
    expect(modes and not any(modes), "the journal can be read by others")


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _attributes(path):
    try:
        return b"".join(n.encode() + os.getxattr(path, n) for n in os.listxattr(path))
    except OSError:
        return b""
