#!/usr/bin/env python3
"""Checks `haul get` against real servers: nginx, Apache, Caddy, Python's http.server, vsftpd, sshd, tinyproxy, Dante.

Each server is started as a child process with a configuration of its own on a free loopback port, used and stopped.
A server that cannot be started fails its checks. Needs root (the servers drop their privileges); no systemd. The
packages are listed in scripts/checks/packages.txt; the command is $HAUL, or .build/release/haul.
"""
import argparse
import os
import re
import signal
import sys
import time
from urllib.parse import quote

sys.dont_write_bytecode = True

import servers  # noqa: E402
from servers import (BIG, MIB, NAMES, NOTES, PASSWORD, SMALL, USER, Apache, Caddy, Danted, Nginx,  # noqa: E402
                     PythonServer, Relay, Sshd, Tinyproxy, Vsftpd, VsftpdTLS)
from support import harness  # noqa: E402
from support.harness import check, expect, wait_until  # noqa: E402
from support.scripted import Server  # noqa: E402

STAGE = None
PACE = 2 * MIB  # bytes a second and connection while an interruption is awaited


def stage():
    """The running servers; made with the first check."""
    return STAGE


class Access:
    """A way to the served files: URLs, the options they need, and the bytes that were sent."""

    def __init__(self, prefix, arguments=(), counter=None, rate=PACE, env=None):
        self.prefix, self.arguments, self.counter, self.rate, self.env = prefix, list(arguments), counter, rate, env
        self.big = "big.bin"  # what is to be interrupted

    def url(self, name):
        return self.prefix + quote(name)

    def sent(self, name):
        return self.counter(name)


def http(kind, scheme="http", port="http", prefix="/", arguments=(), through=None):
    """An access over a relay that paces and counts."""
    def way(box):
        server = stage().server(kind)
        relay = box.server(Relay(getattr(server, port), PACE))
        options = list(arguments)
        if scheme == "https":
            options += ["--cacert", stage().tls.ca]
        return Access("%s://127.0.0.1:%d%s" % (scheme, relay.port, prefix), options, lambda _: relay.body_sent)
    return way


def through_proxy(scheme, proxy, port):
    """nginx behind a proxy; the relay stands before the proxy."""
    def way(box):
        origin = stage().server(Nginx)
        relay = box.server(Relay(stage().server(proxy).port, PACE))
        options = ["--proxy", "%s://127.0.0.1:%d" % ("socks5h" if proxy is Danted else "http", relay.port)]
        if proxy is Tinyproxy:
            options += ["--proxy-user", "%s:%s" % (USER, PASSWORD)]
        if scheme == "https":
            options += ["--cacert", stage().tls.ca]
        return Access("%s://127.0.0.1:%d/" % (scheme, getattr(origin, port)), options, lambda _: relay.body_sent)
    return way


def ftp(kind):
    def way(box):
        server = stage().server(kind)
        options = ["--user", "anonymous:" + PASSWORD]
        if kind is VsftpdTLS:
            options += ["--cacert", stage().tls.ca]
        access = Access("%s://127.0.0.1:%d/" % ("ftps" if kind is VsftpdTLS else "ftp", server.port), options,
                        server.sent, kind.RATE)
        # A name of its own, as the server's log counts by name.
        access.big = "big-%s.bin" % os.path.basename(box.root)
        os.link(os.path.join(stage().docs, "big.bin"), os.path.join(stage().docs, access.big))
        return access
    return way


def sftp(box):
    server = stage().server(Sshd)
    relay = box.server(Relay(server.port, PACE))
    options = ["--ssh-key", server.home + "/user", "--known-hosts", server.known_hosts(box, relay.port)]
    return Access("sftp://root@127.0.0.1:%d%s/" % (relay.port, stage().docs), options, lambda _: relay.body_sent)


# ---------------------------------------------------------------- what every way must do
def plain(way):
    def function(box):
        access = way(box)
        run = box.ok(*access.arguments, "-d", box.dl, access.url("big.bin"))
        box.holds("big.bin", BIG)
        expect(run.paths == [box.path("big.bin")], "standard output: %r" % run.out)
    return function


def segmented(way):
    def function(box):
        access = way(box)
        box.ok(*access.arguments, "-c", 4, "-o", box.path("big.bin"), access.url("big.bin"))
        box.holds("big.bin", BIG)
    return function


def interrupted(way, number, connections, resumes=True):
    def function(box):
        access = way(box)
        arguments = (*access.arguments, "-c", connections, "-o", box.path("big.bin"), access.url(access.big))
        live = box.start(*arguments)
        wait_until(lambda: box.partials() or not live.running(), 15, "a work file")
        time.sleep(BIG.size / 2 / access.rate / connections)
        expect(live.running(), "ended before it could be interrupted: %s" % (live.running() or live.wait(1).said()))
        at = time.monotonic()
        live.signal(number)
        run = live.wait(10)
        box.runs.append(run)
        if number == signal.SIGINT:
            expect(run.rc == 130, "exit %d after SIGINT: %s" % (run.rc, run.said()))
            expect(time.monotonic() - at < 2, "lived on for %.1f s" % (time.monotonic() - at))
        box.nothing_final()
        box.ok(*arguments, limit=60)
        box.holds("big.bin", BIG)
        if resumes:
            time.sleep(0.2)  # until the server's log is written
            again = access.sent(access.big) - BIG.size
            expect(again <= connections * MIB + BIG.size // 16,
                   "%d bytes were fetched again over %d connections" % (again, connections))
    return function


def missing(way):
    def function(box):
        access = way(box)
        run = box.fails(8, *access.arguments, "-d", box.dl, access.url("no-such-file"))
        expect(not box.tree(), "left over: %r" % box.tree())
        expect(run.seconds < 10, "took %.1f s" % run.seconds)
    return function


def checksums(way):
    def function(box):
        access = way(box)
        box.ok(*access.arguments, "--checksum", "sha256:" + SMALL.sha256, "-d", box.dl, access.url("small.bin"))
        box.holds("small.bin", SMALL)
        os.unlink(box.path("small.bin"))
        box.fails(9, *access.arguments, "--checksum", "sha256:" + BIG.sha256, "-d", box.dl, access.url("small.bin"))
        box.nothing_final()
    return function


def odd_names(way):
    def function(box):
        access = way(box)
        for name in NAMES:
            box.ok(*access.arguments, "-d", box.dl, access.url(name))
            box.holds(name, SMALL)
            os.unlink(box.path(name))
    return function


def wrong_password(way, options):
    def function(box):
        access = way(box)
        kept = [a for a in access.arguments]
        for option in ("--user", "--ssh-key", "--proxy-user"):
            while option in kept:
                at = kept.index(option)
                del kept[at:at + 2]
        chosen = options() if callable(options) else list(options)
        run = box.fails(6, *kept, *chosen, "--retries", 1, "-d", box.dl, access.url("small.bin"))
        expect(not box.tree(), "left over: %r" % box.tree())
        expect("wrong-word" not in run.err, "the password was printed")
    return function


WRONG = ("--user", USER + ":wrong-word")
WAYS = [
    # name, way, a wrong password, can it resume
    ("nginx HTTP", http(Nginx, prefix="/private/", arguments=("--user", "%s:%s" % (USER, PASSWORD))), WRONG, True),
    ("nginx HTTPS, HTTP/2", http(Nginx, "https", "https", "/private/",
                                 ("--user", "%s:%s" % (USER, PASSWORD))), WRONG, True),
    ("Apache, basic", http(Apache, prefix="/basic/", arguments=("--user", "%s:%s" % (USER, PASSWORD))), WRONG, True),
    ("Apache, digest", http(Apache, prefix="/digest/", arguments=("--user", "%s:%s" % (USER, PASSWORD))), WRONG, True),
    ("Caddy HTTP", http(Caddy), None, True),
    ("Caddy HTTPS, HTTP/2", http(Caddy, "https", "any_https"), None, True),
    ("Python http.server", http(PythonServer), None, False),
    ("vsftpd FTP", ftp(Vsftpd), ("--user", "anonymous:wrong-word"), True),
    ("vsftpd FTPS", ftp(VsftpdTLS), ("--user", "anonymous:wrong-word"), True),
    ("sshd SFTP", sftp, lambda: ("--ssh-key", stage().server(Sshd).home + "/other-user"), True),
    ("tinyproxy HTTP", through_proxy("http", Tinyproxy, "http"), ("--proxy-user", USER + ":wrong-word"), True),
    ("tinyproxy CONNECT", through_proxy("https", Tinyproxy, "https"), ("--proxy-user", USER + ":wrong-word"), True),
    ("Dante SOCKS5", through_proxy("https", Danted, "https"), None, True),
]

for title, way, wrong, resumes in WAYS:
    check("%s: a plain download is byte-exact" % title)(plain(way))
    check("%s: four connections, byte-exact" % title)(segmented(way))
    for shown, number in (("SIGKILL", signal.SIGKILL), ("SIGINT", signal.SIGINT)):
        check("%s: %s half-way, then byte-exact%s" % (title, shown, " with little fetched again" if resumes else ""),
              weight=5)(interrupted(way, number, 1, resumes))
    if resumes:
        check("%s: SIGKILL with four connections, then byte-exact with little fetched again" % title, weight=4)(
            interrupted(way, signal.SIGKILL, 4))
    check("%s: a missing file is exit 8" % title)(missing(way))
    check("%s: a right checksum passes, a wrong one is exit 9" % title)(checksums(way))
    check("%s: names with spaces, UTF-8, percent and plus signs" % title)(odd_names(way))
    if wrong:
        check("%s: a wrong password or key is exit 6" % title)(wrong_password(way, wrong))


# ---------------------------------------------------------------- nginx
@check("nginx: a gzip that is on for all does not change what is stored")
def nginx_gzip(box):
    server = stage().server(Nginx)
    box.ok("-d", box.dl, "http://127.0.0.1:%d/notes.txt" % server.http)
    box.holds("notes.txt", NOTES)


@check("nginx: limit_rate, with two connections faster than with one", weight=4, alone=True)
def nginx_limit_rate(box):
    server = stage().server(Nginx)
    one = box.ok("-c", 1, "-o", box.path("one"), "http://127.0.0.1:%d/slow/big.bin" % server.http)
    four = box.ok("-c", 4, "-o", box.path("four"), "http://127.0.0.1:%d/slow/big.bin" % server.http)
    for name in ("one", "four"):
        box.holds(name, BIG, only=False)
    expect(four.seconds < one.seconds * 0.8, "one %.2f s, four %.2f s" % (one.seconds, four.seconds))


@check("nginx: limit_conn answers 503 beyond two connections, and the download ends well", weight=4)
def nginx_limit_conn(box):
    server = stage().server(Nginx)
    box.ok("-c", 8, "--retries", 8, "-o", box.path("big.bin"), "http://127.0.0.1:%d/limited/big.bin" % server.http,
           limit=60)
    box.holds("big.bin", BIG)
    refused = [line for line in server.lines() if " 503 " in line and "/limited/big.bin" in line]
    expect(len(refused) <= 14, "%d refusals: the limit was not learnt" % len(refused))


@check("nginx: a redirect from http to https is followed, and the name kept")
def nginx_redirect(box):
    server = stage().server(Nginx)
    box.ok("--cacert", stage().tls.ca, "-d", box.dl, "http://127.0.0.1:%d/moved/small.bin" % server.http)
    box.holds("small.bin", SMALL)


@check("nginx: sixty small files go over HTTP/2, over few connections")
def nginx_many(box):
    server = stage().server(Nginx)
    relay = box.server(Relay(server.https))
    before = len(server.lines())
    lines = box.write("list.txt", "".join("https://127.0.0.1:%d/many/%02d\n" % (relay.port, n) for n in range(60)))
    box.ok("--cacert", stage().tls.ca, "-i", lines, "-d", box.dl)
    expect(box.finals() == ["%02d" % n for n in range(60)] and not box.partials(), "files: %r" % box.tree()[:5])
    for name in box.finals():
        box.holds(name, SMALL, only=False)
    used = [line for line in server.lines()[before:] if "/many/" in line]
    expect(sum(line.startswith("HTTP/2.0") for line in used) >= 60, "not over HTTP/2: %r" % used[:2])
    expect(relay.accepted <= 8, "%d connections" % relay.accepted)


@check("nginx: an untrusted certificate is exit 5, --insecure and a pin decide otherwise")
def nginx_trust(box):
    server = stage().server(Nginx)
    url = "https://127.0.0.1:%d/small.bin" % server.https
    box.fails(5, "-d", box.dl, url)
    expect(not box.tree(), "left over: %r" % box.tree())
    box.ok("--insecure", "-d", box.dl, url)
    box.holds("small.bin", SMALL)
    box.fails(5, "--cacert", stage().tls.ca, "--pinned-pubkey", "sha256//" + "A" * 43 + "=", "-o", box.path("x"), url)


@check("nginx: --netrc supplies the password, --bearer goes as Authorization")
def nginx_netrc(box):
    server = stage().server(Nginx)
    with open(os.path.join(box.home, ".netrc"), "w") as file:
        file.write("machine 127.0.0.1 login %s password %s\n" % (USER, PASSWORD))
    os.chmod(os.path.join(box.home, ".netrc"), 0o600)
    url = "http://127.0.0.1:%d/private/small.bin" % server.http
    box.fails(6, "-d", box.dl, url)
    box.ok("--netrc", "-d", box.dl, url)
    box.holds("small.bin", SMALL)


# ---------------------------------------------------------------- Apache
@check("Apache: mod_deflate by .htaccess does not change what is stored")
def apache_deflate(box):
    server = stage().server(Apache)
    box.ok("-d", box.dl, "http://127.0.0.1:%d/packed/notes.txt" % server.http)
    box.holds("notes.txt", NOTES)


@check("Apache: a negotiated variant is stored whole")
def apache_negotiated(box):
    server = stage().server(Apache)
    box.ok("-H", "Accept-Language: de", "-o", box.path("page"), "http://127.0.0.1:%d/variants/page.txt" % server.http)
    box.holds("page", SMALL)
    box.ok("-H", "Accept-Language: en", "-o", box.path("page"), "http://127.0.0.1:%d/variants/page.txt" % server.http)
    box.holds("page", NOTES)


# ---------------------------------------------------------------- SFTP
@check("sshd: an unknown host key is exit 5, a changed one too, and nothing is fetched")
def ssh_host_keys(box):
    server = stage().server(Sshd)
    url = "sftp://root@127.0.0.1:%d%s/small.bin" % (server.port, stage().docs)
    key = ("--ssh-key", server.home + "/user", "--retries", 1)
    empty = box.write("empty", "")
    box.fails(5, *key, "--known-hosts", empty, "-d", box.dl, url)
    changed = server.known_hosts(box, server.port, "other-host")
    box.fails(5, *key, "--known-hosts", changed, "-d", box.dl, url)
    expect(not box.tree(), "left over: %r" % box.tree())
    good = server.known_hosts(box, server.port)
    box.ok(*key, "--known-hosts", good, "-d", box.dl, url)
    box.holds("small.bin", SMALL)


# ---------------------------------------------------------------- proxies by the environment
def proxies(box):
    plain_relay = box.server(Relay(stage().server(Tinyproxy).port))
    socks_relay = box.server(Relay(stage().server(Danted).port))
    mine = "http://%s:%s@127.0.0.1:%d" % (USER, PASSWORD, plain_relay.port)
    return plain_relay, socks_relay, mine, "socks5h://127.0.0.1:%d" % socks_relay.port


@check("environment: http_proxy, https_proxy, all_proxy and no_proxy are obeyed")
def proxy_variables(box):
    web, socks, web_url, socks_url = proxies(box)
    server = stage().server(Nginx)
    clear = "http://127.0.0.1:%d/small.bin" % server.http
    secure = "https://127.0.0.1:%d/small.bin" % server.https
    cases = [
        ({"http_proxy": web_url}, clear, web), ({"https_proxy": web_url}, secure, web),
        ({"HTTPS_PROXY": web_url}, secure, web), ({"http_proxy": web_url}, secure, None),
        ({"all_proxy": socks_url}, clear, socks), ({"all_proxy": socks_url}, secure, socks),
        ({"all_proxy": socks_url, "http_proxy": web_url}, clear, web),
        ({"http_proxy": web_url, "no_proxy": "127.0.0.1,other.test"}, clear, None),
        ({"all_proxy": web_url, "no_proxy": "*"}, secure, None),
    ]
    for env, url, wanted in cases:
        before = web.accepted, socks.accepted
        box.ok("--cacert", stage().tls.ca, "--if-exists", "replace", "-o", box.path("small.bin"), url, env=env)
        box.holds("small.bin", SMALL)
        used = [r for r, count in zip((web, socks), before) if r.accepted > count]
        expect(used == ([wanted] if wanted else []), "%r for %s: wrong proxy" % (sorted(env), url.split(":")[0]))
        os.unlink(box.path("small.bin"))


@check("environment: the password of a proxy shows nowhere")
def proxy_secret(box):
    web, _, web_url, _ = proxies(box)
    server = stage().server(Nginx)
    run = box.fails(8, "-v", "-d", box.dl, "http://127.0.0.1:%d/no-such" % server.http, env={"http_proxy": web_url},
                    loud=True)
    expect(PASSWORD not in run.err + run.out, "the password was printed")
    run = box.fails((4, 6), "--retries", 0, "-d", box.dl, "http://127.0.0.1:%d/small.bin" % server.http,
                    env={"http_proxy": "http://%s:other-word@127.0.0.1:%d" % (USER, web.port)}, loud=True)
    expect("other-word" not in run.err + run.out, "the password was printed")


# ---------------------------------------------------------------- names and addresses
@check("addresses: a dead IPv6 address first costs no more than a second")
def dead_ipv6(box):
    server = stage().server(Nginx)
    run = box.ok("--resolve", "haul.test:%d:[::1],127.0.0.1" % server.http, "-d", box.dl,
                 "http://haul.test:%d/small.bin" % server.http)
    box.holds("small.bin", SMALL)
    expect(run.seconds < 2, "took %.1f s" % run.seconds)


@check("addresses: an international host name is looked up in its ASCII form")
def idn(box):
    server = stage().server(Nginx)
    box.ok("--resolve", "xn--mnchen-3ya.test:%d:127.0.0.1" % server.http, "-d", box.dl,
           "http://münchen.test:%d/small.bin" % server.http)
    box.holds("small.bin", SMALL)


# ---------------------------------------------------------------- signatures and secrets (a small Python server)
@check("signatures: --aws-sigv4 sends a well-formed AWS4-HMAC-SHA256 header")
def sigv4(box):
    server = box.server(Server(lambda rq: rq.serve(SMALL)))
    box.ok("--aws-sigv4", "aws:amz:eu-central-1:s3", "--user", "AKIDEXAMPLE:secret-signing-key", "-d", box.dl,
           server.url("/bucket/small.bin"))
    box.holds("small.bin", SMALL)
    headers = dict((k.lower(), v) for k, v in server.log[0]["headers"])
    expect(re.fullmatch(r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/\d{8}/eu-central-1/s3/aws4_request, ?"
                        r"SignedHeaders=[a-z0-9;-]+, ?Signature=[0-9a-f]{64}", headers.get("authorization", "")),
           "Authorization: %r" % headers.get("authorization"))
    signed = re.search("SignedHeaders=([^,]+)", headers["authorization"]).group(1).split(";")
    expect("host" in signed and "x-amz-date" in signed, "signed are only %r" % signed)
    expect(re.fullmatch(r"\d{8}T\d{6}Z", headers.get("x-amz-date", "")), "X-Amz-Date: %r" % headers.get("x-amz-date"))
    expect("secret-signing-key" not in repr(server.log), "the key itself was sent")


@check("signatures: --bearer goes with every request to its origin, and to no other")
def bearer(box):
    other = box.server(Server(lambda rq: rq.serve(BIG)))
    origin = box.server(Server(lambda rq: rq.redirect(other.url("/big.bin"))))
    box.ok("--bearer", "to-ken-va-lue", "-c", 4, "-d", box.dl, origin.url("/x"))
    box.holds("big.bin", BIG)
    expect(("Authorization", "Bearer to-ken-va-lue") in [(k.title(), v) for k, v in origin.log[0]["headers"]],
           "the token was not sent")
    expect("to-ken-va-lue" not in repr(other.log), "the token went to another origin")


@check("cookies: what a server sets goes back to it, and to a file that only the user can read")
def cookies(box):
    def handler(rq):
        if rq.path == "/login":
            return rq.redirect("/file.bin", headers=[("Set-Cookie", "session=co-okie-va-lue; Path=/; HttpOnly")])
        if "session=co-okie-va-lue" not in (rq.get("cookie") or ""):
            return rq.error(403)
        return rq.serve(BIG)
    server = box.server(Server(handler))
    jar = os.path.join(box.root, "jar.txt")
    run = box.ok("-v", "-c", 3, "--save-cookies", jar, "-o", box.path("file.bin"), server.url("/login"), loud=True)
    box.holds("file.bin", BIG)
    with open(jar) as file:
        expect("co-okie-va-lue" in file.read(), "the cookie was not saved")
    expect(os.stat(jar).st_mode & 0o077 == 0, "the saved cookies can be read by others")
    expect("co-okie-va-lue" not in run.err, "the cookie was printed")
    box.ok("--cookies", jar, "-o", box.path("again.bin"), server.url("/file.bin"))


@check("secrets: passwords and keys are in no process list, output, journal or attribute")
def secrets(box):
    cases = []
    server = stage().server(Nginx)
    relay = box.server(Relay(server.http, MIB))
    private = "127.0.0.1:%d/private/big.bin" % relay.port
    cases.append((["--user", "%s:%s" % (USER, PASSWORD), "http://" + private], [PASSWORD]))
    cases.append((["http://%s:%s@%s?token=query-se-cret" % (USER, PASSWORD, private)], [PASSWORD, "query-se-cret"]))
    ftp_server = stage().server(Vsftpd)
    cases.append((["ftp://anonymous:%s@127.0.0.1:%d/big.bin" % (PASSWORD, ftp_server.port)], [PASSWORD]))
    for number, (arguments, hidden) in enumerate(cases):
        directory = box.path("case%d" % number)
        os.mkdir(directory)
        live = box.start("-v", "-d", directory, *arguments, loud=True)
        wait_until(lambda: [n for n in os.listdir(directory) if n.endswith(".part.haul")] or not live.running(), 10,
                   "a journal")
        time.sleep(0.3)
        with open("/proc/%d/cmdline" % live.pid, "rb") as file:
            seen = file.read()
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            if name.endswith(".haul"):
                with open(path, "rb") as file:
                    seen += file.read()
            seen += b"".join(a.encode() + os.getxattr(path, a) for a in os.listxattr(path))
        run = live.wait(40)
        box.runs.append(run)
        expect(run.rc == 0, "exit %d: %s" % (run.rc, run.said()))
        for name in os.listdir(directory):
            path = os.path.join(directory, name)
            seen += b"".join(a.encode() + os.getxattr(path, a) for a in os.listxattr(path))
        for secret in hidden:
            expect(secret not in run.err + run.out, "%s was printed: %s" % (secret, run.said()))
            expect(secret.encode() not in seen, "%s is in the process list, a journal or an attribute" % secret)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_options(parser)
    options = parser.parse_args()
    if options.list:
        sys.exit(harness.main(options))
    harness.require_haul()
    harness.install_clean_up()
    STAGE = servers.Stage()
    try:
        status = harness.main(options)
    finally:
        STAGE.close()
    sys.exit(status)
