"""What the scripted checks share."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "checks"))

from support.harness import KIB, MIB, Box, Content, Failed, Live, Text, check, expect, file_sha256, wait_until  # noqa
from support.scripted import AUTO, DATE, LATER, Server, header_date  # noqa
from support.tls import Authority  # noqa

HERE = os.path.dirname(os.path.abspath(__file__))
SLACK = 512 * KIB  # what may be in the socket buffers of a connection that is ended


def one(box, handler, **options):
    """A server of the sandbox."""
    return box.server(Server(handler, **options))


def broken_off(box, content, second, *arguments, at=400_000, path="/file.bin", first=None, options=None, loud=False,
               connections=1):
    """A download that was killed after `at` bytes; from then on `second` answers. Gives the server.

    `server.before`: body bytes sent until then; `server.again()`: runs the same command again (must end well).
    """
    arguments = arguments or ("-o", box.path("file.bin"))

    def handler(rq):
        if server.state.get("second"):
            return second(rq)
        if first:
            return first(rq)
        return rq.serve(content, stop_after=at, ending="stall", **(options or {}))

    server = one(box, handler)
    command = ["-c", connections, *arguments, server.url(path)]
    box.interrupted(server, at, *command)
    expect(box.partials(), "nothing was kept of a killed download: %r" % box.tree())
    server.state["second"] = True
    server.before = server.body_sent
    server.mark = len(server.log)
    server.again = lambda **more: box.ok(*command, **more)
    server.command = command
    return server


def refetched(server, content):
    """Body bytes sent beyond the size of the file."""
    return server.body_sent - content.size


def at_most(value, bound, what):
    expect(value <= bound, "%s: %d, at most %d allowed" % (what, value, bound))


def visible(data):
    """Fails when bytes hold what could drive a terminal: controls but newline, DEL, C1, bidi."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    bad = [c for c in text if (ord(c) < 32 and c != "\n") or 0x7F <= ord(c) <= 0x9F
           or c in "\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffd"]
    expect(not bad, "control characters were printed: %r in %r" % (bad[:3], text[:200]))


FAILED_TRANSFER = (4, 7)  # network or protocol: both describe a body that ends too early
