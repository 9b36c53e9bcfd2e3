"""Retries, limits, slow and distant servers, who may: cases B066 to B083, B141."""
import base64
import hashlib
import os
import re
import socket
import threading
import time

from common import (KIB, MIB, Content, Server, at_most, broken_off, check, expect, header_date, one, refetched)

A = Content("a", MIB)
BIG = Content("big", 6 * MIB)


def gap(server, first=0, second=1):
    return server.log[second]["time"] - server.log[first]["time"]


def retry_after(value, low, high, headers=()):
    def function(box):
        def handler(rq):
            if rq.number == 1:
                fields = [("Retry-After", value() if callable(value) else value)] + [
                    (k, v()) for k, v in headers]
                return rq.error(503, fields)
            return rq.serve(A)
        server = one(box, handler)
        box.ok("-c", 1, "--retry-wait", 1, "-o", box.path("file.bin"), server.url())
        box.holds("file.bin", A)
        expect(low <= gap(server) <= high, "asked again after %.1f s, not %.1f to %.1f" % (gap(server), low, high))
        at_most(len(server.log), 3, "requests")
    return function


def old_form(seconds):
    return time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(time.time() + seconds))


check("B066 Retry-After as a date is waited for", 5)(retry_after(lambda: header_date(4), 2.9, 6))
check("B066 Retry-After as a date of the old form is waited for", 5)(retry_after(lambda: old_form(4), 2.9, 6))
check("B066 Retry-After as a date by a clock that is an hour off is measured by Date", 5)(
    retry_after(lambda: header_date(3604), 2.9, 6, [("Date", lambda: header_date(3600))]))
check("B067 Retry-After in the past is the normal back-off", 2)(
    retry_after("Mon, 05 Feb 2001 10:00:00 GMT", 0.95, 4))
check("B067 a negative Retry-After is the normal back-off", 2)(retry_after("-5", 0.95, 4))
check("B067 a Retry-After that is no number is the normal back-off", 2)(retry_after("abc", 0.95, 4))


@check("B067 an absurd Retry-After fails within the user's limit")
def absurd_retry_after(box):
    server = one(box, lambda rq: rq.error(503, [("Retry-After", "99999999999999")]))
    run = box.fails((4, 8), "--max-time", 5, "-o", box.path("file.bin"), server.url())
    expect(run.seconds < 6, "took %.1f s" % run.seconds)


@check("B068 a Retry-After beyond --max-time fails at once and says so")
def long_retry_after(box):
    server = one(box, lambda rq: rq.error(503, [("Retry-After", "86400")]))
    run = box.fails((4, 8), "--max-time", 5, "-o", box.path("file.bin"), server.url())
    expect(run.seconds < 6, "took %.1f s" % run.seconds)
    expect(re.search(r"24 ?h|1 ?d|86,?400|24:00|tomorrow", run.err), "does not say how long: " + run.said())
    at_most(len(server.log), 2, "requests")


def limited(kind, items):
    def function(box):
        def handler(rq):
            with server.lock:
                server.state["active"] = server.state.get("active", 0) + 1
                active = server.state["active"]
                server.state["most"] = max(server.state.get("most", 0), active)
            try:
                if active > 2:
                    server.bump("refused")
                    if kind == "reset":
                        rq.end("reset")
                    if kind == "silence":
                        rq.connection.sleep(3)
                        rq.end("fin")
                    return rq.error(kind, close=True)
                return rq.serve(content, rate=MIB)
            finally:
                with server.lock:
                    server.state["active"] -= 1
        content = BIG if items == 1 else Content("item", 2 * MIB)
        server = one(box, handler)
        if items == 1:
            box.ok("-c", 8, "--retries", 8, "--stall-timeout", 2, "-o", box.path("file.bin"), server.url(), limit=60)
            box.holds("file.bin", content)
        else:
            urls = [server.url("/item%d.bin" % n) for n in range(items)]
            box.ok("-j", items, "-c", 2, "--retries", 8, "-d", box.dl, *urls, limit=60)
            for n in range(items):
                box.holds("item%d.bin" % n, content, only=False)
            expect(len(box.tree()) == items, "left over: %r" % box.tree())
        at_most(server.state.get("refused", 0), 14, "refusals, so the limit was not learnt")
    return function


for kind in (503, 429, "reset", "silence"):
    check("B071 a limit of two connections is learnt (%s)" % kind, 8)(limited(kind, 1))
check("B071 a limit of two connections holds over all downloads of the host", 8)(limited(503, 5))


@check("B072 connections that die one by one are replaced", weight=6)
def dying(box):
    def handler(rq):
        rq.serve(BIG, rate=600 * KIB, stop_after=900 * KIB, ending="reset")
    server = one(box, handler)
    box.ok("-c", 4, "-o", box.path("file.bin"), server.url(), limit=60)
    box.holds("file.bin", BIG)
    at_most(refetched(server, BIG), 4 * MIB, "fetched again")


@check("B073 five answers 429 without Retry-After do not park the download", weight=6)
def five_429(box):
    server = one(box, lambda rq: rq.error(429) if server.bump() <= 5 else rq.serve(A))
    box.ok("-c", 1, "--retry-wait", 0.1, "-o", box.path("file.bin"), server.url(), limit=60)
    box.holds("file.bin", A)


@check("B076 a silence is a time-out, and tried again")
def silent_first(box):
    def handler(rq):
        if server.bump() == 1:
            rq.end("stall")
        return rq.serve(A)
    server = one(box, handler)
    box.ok("-c", 1, "--stall-timeout", 1, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)


@check("B077 a dead IPv6 address costs less than a second, once")
def dead_ipv6(box):
    server = one(box, lambda rq: rq.serve(BIG, rate=6 * MIB))
    run = box.ok("-c", 3, "--resolve", "twin.test:%d:[::1],127.0.0.1" % server.port, "-o", box.path("file.bin"),
                 server.url(host="twin.test"))
    box.holds("file.bin", BIG)
    expect(run.seconds < 4, "took %.1f s" % run.seconds)


# ---------------------------------------------------------------- proxies
class Proxy(Server):
    """A logging HTTP proxy: plain requests are passed on by the handler, CONNECT is a tunnel."""

    def __init__(self, wanted=None):
        super().__init__(self.pass_on)
        self.wanted = wanted and "Basic " + base64.b64encode(wanted.encode()).decode()

    def pass_on(self, rq):
        if self.wanted and rq.get("proxy-authorization") != self.wanted:
            return rq.error(407, [("Proxy-Authenticate", 'Basic realm="proxy"')])
        where = rq.target if rq.method == "CONNECT" else rq.target.split("://", 1)[1].split("/")[0]
        host, _, port = where.rpartition(":")
        far = socket.create_connection(("127.0.0.1", int(port)))
        if rq.method == "CONNECT":
            rq.head(200, reason="Connection established")
        else:
            lines = ["%s /%s HTTP/1.1" % (rq.method, rq.target.split("://", 1)[1].partition("/")[2])]
            lines += ["%s: %s" % (k, v) for k, v in rq.headers if not k.lower().startswith("proxy-")
                      and k.lower() != "connection"]
            far.sendall(("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode("latin-1"))
        rq.connection.keep = False
        self.tunnel(rq.connection.sock, far)

    def tunnel(self, near, far):
        def pump(source, target):
            try:
                while data := source.recv(65536):
                    target.sendall(data)
            except OSError:
                pass
            for sock in (source, target):
                try:
                    sock.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        other = threading.Thread(target=pump, args=(near, far), daemon=True)
        other.start()
        pump(far, near)
        other.join(2)
        far.close()


@check("B078 every request of a download goes through the proxy: segments, redirects, resume")
def proxy_always(box):
    proxy = box.server(Proxy())
    origin = broken_off(box, BIG, lambda rq: rq.serve(BIG) if rq.path == "/real" else rq.redirect("/real"),
                        "--proxy", proxy.origin, "-o", box.path("file.bin"), at=2 * MIB, connections=4, path="/x",
                        first=lambda rq: rq.redirect("/real") if rq.path == "/x"
                        else rq.serve(BIG, stop_after=MIB, ending="stall"))
    origin.again()
    box.holds("file.bin", BIG)
    expect(len(proxy.log) == len(origin.log), "%d requests at the proxy, %d at the origin"
           % (len(proxy.log), len(origin.log)))


@check("B078 no_proxy is kept, and the environment's proxy used otherwise")
def proxy_environment(box):
    proxy = box.server(Proxy())
    server = one(box, lambda rq: rq.serve(A))
    box.ok("-o", box.path("file.bin"), server.url(), env={"http_proxy": proxy.origin})
    expect(len(proxy.log) == len(server.log) > 0, "the proxy of the environment was not used")
    count = len(proxy.log)
    box.ok("-o", box.path("second.bin"), server.url("/2"), env={"http_proxy": proxy.origin, "no_proxy": "127.0.0.1"})
    expect(len(proxy.log) == count, "the proxy was used for a host of no_proxy")
    box.ok("-o", box.path("third.bin"), "--no-proxy", "127.0.0.1", server.url("/3"), env={"http_proxy": proxy.origin})
    expect(len(proxy.log) == count, "the proxy was used for a host of --no-proxy")


@check("B078 a proxy that wants a password is named in the failure, and gets it when given")
def proxy_password(box):
    proxy = box.server(Proxy("u:proxy-pass"))
    server = one(box, lambda rq: rq.serve(A))
    run = box.fails((4, 6), "--proxy", proxy.origin, "--retries", 1, "-o", box.path("file.bin"), server.url())
    expect("proxy" in run.err.lower() or "407" in run.err, "does not name the proxy: " + run.said())
    box.ok("--proxy", proxy.origin, "--proxy-user", "u:proxy-pass", "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)
    expect(not any(k.lower() == "proxy-authorization" for e in server.log for k, _ in e["headers"]),
           "the proxy's password went to the origin")


# ---------------------------------------------------------------- who may
def parts(header):
    found = dict(re.findall(r'(\w+)="([^"]*)"', header))
    found.update(re.findall(r'(\w+)=([^",\s]+)(?:,|\s|$)', header))
    return found


def digest_server(algorithm, stale=False):
    name = {"MD5": "md5", "SHA-256": "sha256"}[algorithm]
    seen = set()

    def h(text):
        return hashlib.new(name, text.encode()).hexdigest()

    def handler(rq):
        nonce = "fresh" if not stale or server_hits() > 3 else "first"
        challenge = 'Digest realm="lab", qop="auth", algorithm=%s, nonce="%s", opaque="o"' % (algorithm, nonce)
        given = parts(rq.get("authorization") or "")
        if not (rq.get("authorization") or "").startswith("Digest "):
            return rq.error(401, [("WWW-Authenticate", challenge)])
        if given.get("nonce") != nonce:
            return rq.error(401, [("WWW-Authenticate", challenge + ", stale=true")])
        wanted = h("%s:%s:%s:%s:auth:%s" % (h("u:lab:digest-pw"), nonce, given.get("nc"), given.get("cnonce"),
                                            h("%s:%s" % (rq.method, rq.target))))
        key = (given.get("cnonce"), given.get("nc"))
        if given.get("response") != wanted or given.get("uri") != rq.target or key in seen:
            return rq.error(401, [("WWW-Authenticate", challenge)])
        seen.add(key)
        return rq.serve(BIG)
    hits = [0]

    def server_hits():
        hits[0] += 1
        return hits[0]
    return handler


for algorithm, stale in (("MD5", False), ("SHA-256", False), ("MD5", True)):
    def digest(box, algorithm=algorithm, stale=stale):
        server = one(box, digest_server(algorithm, stale))
        box.ok("-c", 4, "--user", "u:digest-pw", "-o", box.path("file.bin"), server.url())
        box.holds("file.bin", BIG)
        bad = one(box, digest_server(algorithm))
        box.fails(6, "--user", "u:wrong", "-o", box.path("other.bin"), bad.url())
        at_most(len(bad.log), 6, "requests with a wrong password")
    check("B081 digest authentication, 4 connections (%s%s)" % (algorithm, ", stale nonce" if stale else ""))(digest)


@check("B082 the entry of the user in the URL is taken from netrc, never another's")
def netrc(box):
    logins = {"ann": "ann-pw", "bob": "bob-pw"}

    def handler(rq):
        given = base64.b64decode((rq.get("authorization") or "Basic ").split(" ", 1)[1]).decode()
        server.state.setdefault("given", []).append(given)
        user, _, word = given.partition(":")
        if logins.get(user) == word:
            return rq.serve(A)
        return rq.error(401, [("WWW-Authenticate", 'Basic realm="x"')])
    server = one(box, handler)
    lines = "".join("machine 127.0.0.1 login %s password %s\n" % pair for pair in logins.items())
    with open(os.path.join(box.home, ".netrc"), "w") as file:
        file.write(lines)
    os.chmod(os.path.join(box.home, ".netrc"), 0o600)
    box.ok("--netrc", "-o", box.path("file.bin"), server.url(user="bob"))
    box.holds("file.bin", A)
    box.fails(6, "--netrc", "-o", box.path("other.bin"), server.url(user="eve"))
    expect(not any(g.startswith("eve:") and g[4:] for g in server.state["given"]), "eve got another user's password")
    expect("ann:ann-pw" not in server.state["given"], "another user's entry was sent")


@check("B083 a cookie that the user gave goes with every request, segment and retry")
def cookies_always(box):
    def handler(rq):
        if "s=1" not in (rq.get("cookie") or ""):
            return rq.error(403)
        if server.bump() == 2:
            return rq.error(503)
        return rq.serve(BIG, rate=3 * MIB)
    server = one(box, handler)
    jar = box.write("jar.txt", "# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\ts\t1\n")
    saved = os.path.join(box.root, "saved.txt")
    box.ok("-c", 4, "--cookies", jar, "--save-cookies", saved, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", BIG)
    expect(not os.stat(saved).st_mode & 0o077, "saved cookies can be read by others")
    box.ok("-c", 2, "--header", "Cookie: s=1", "-o", box.path("file.bin"), "--if-exists", "replace", server.url())


# ---------------------------------------------------------------- rates
@check("B141 --limit-rate has its effect, and a value that is none is a usage error", weight=4)
def limit_rate(box):
    server = one(box, lambda rq: rq.serve(A))
    run = box.ok("--limit-rate", "256K", "-c", 2, "-o", box.path("file.bin"), server.url())
    box.holds("file.bin", A)
    expect(3.2 < run.seconds < 5, "1 MiB at 256 KiB/s took %.1f s" % run.seconds)
    box.fails(2, "--limit-rate", "fast", "-o", box.path("other.bin"), server.url())
    run = box.ok("--max-rate", "512K", "-j", 2, "-d", box.dl, server.url("/x"), server.url("/y"))
    expect(3.2 < run.seconds < 5.5, "2 MiB at 512 KiB/s for all took %.1f s" % run.seconds)
