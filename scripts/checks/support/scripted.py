"""A small HTTP/1.1 server under the control of a check: it can be honest, and lie at the byte level.

    server = box.server(Server(lambda rq: rq.serve(content)))
    … server.url("/file.bin"), server.log, server.body_sent …

One thread per connection; every request is logged with its number (from 1), headers and the body bytes sent.
"""
import socket
import ssl
import struct
import threading
import time
from email.utils import formatdate, parsedate_to_datetime

from .harness import KIB, Failed

DATE = "Tue, 05 Mar 2024 10:11:12 GMT"
LATER = "Thu, 07 Mar 2024 20:21:22 GMT"
AUTO = object()
REASONS = {
    100: "Continue", 103: "Early Hints", 200: "OK", 204: "No Content", 206: "Partial Content", 301: "Moved Permanently",
    302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect", 308: "Permanent Redirect",
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
    407: "Proxy Authentication Required", 410: "Gone", 412: "Precondition Failed", 416: "Range Not Satisfiable",
    429: "Too Many Requests", 500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
}


class Closed(Exception):
    """This connection is over."""


class Request:
    """One request, and the ways to answer it."""

    def __init__(self, connection, number, raw):
        self.connection, self.server, self.number = connection, connection.server, number
        text = raw.decode("latin-1")
        lines = text.split("\r\n")
        self.method, self.target, self.version = (lines[0].split(" ") + ["", ""])[:3]
        self.headers = []
        for line in lines[1:]:
            if ":" in line:
                name, value = line.split(":", 1)
                self.headers.append((name, value.strip()))
        self.body = b""
        self.entry = {
            "number": number, "connection": connection.number, "method": self.method, "target": self.target,
            "headers": self.headers, "range": self.get("range"), "if_range": self.get("if-range"),
            "time": time.monotonic(), "status": None, "sent": 0,
        }

    # -- reading
    def get(self, name, default=None):
        for key, value in self.headers:
            if key.lower() == name:
                return value
        return default

    @property
    def path(self):
        target = self.target
        if "://" in target.split("?")[0]:
            target = "/" + target.split("://", 1)[1].partition("/")[2]
        return target.split("?", 1)[0]

    @property
    def query(self):
        return self.target.partition("?")[2]

    def span(self, size):
        """The half-open range asked for; None: none (or not one that we read); "bad": not satisfiable."""
        value = (self.get("range") or "").replace(" ", "")
        if not value.startswith("bytes=") or "," in value:
            return None
        first, _, last = value[6:].partition("-")
        try:
            if not first:
                return (max(0, size - int(last)), size)
            start = int(first)
            end = min(size, int(last) + 1) if last else size
        except ValueError:
            return None
        return "bad" if start >= size else (start, end)

    @property
    def start(self):
        """Where the range asked for begins; None without one."""
        value = self.get("range") or ""
        first = value.partition("=")[2].partition("-")[0].strip()
        return int(first) if first.isdigit() else None

    # -- answering
    def raw(self, data):
        """Bytes as they are; not counted as body."""
        self.connection.send(data)

    def payload(self, data):
        """Body bytes."""
        self.connection.send(data)
        self.entry["sent"] += len(data)
        self.server.count(len(data))

    def head(self, status, headers=(), reason=None, version="HTTP/1.1"):
        if self.entry["status"] is None or status >= 200:
            self.entry["status"] = status
        lines = ["%s %d %s" % (version, status, REASONS.get(status, "") if reason is None else reason)]
        lines += ["%s: %s" % pair for pair in headers]
        if status >= 200 and not any(name.lower() == "date" for name, _ in headers):
            lines.append("Date: " + header_date(0))
        data = "\r\n".join(lines) + "\r\n\r\n"
        self.raw(data.encode("utf-8", "surrogateescape"))

    def reply(self, status, headers=(), body=b"", **options):
        """A whole answer with its length."""
        headers = list(headers)
        names = [name.lower() for name, _ in headers]
        if "content-length" not in names and status not in (204, 304):
            headers.append(("Content-Length", len(body)))
        if "connection" in names and dict((n.lower(), v) for n, v in headers)["connection"] == "close":
            self.connection.keep = False
        self.head(status, headers, **options)
        if self.method != "HEAD" and body:
            self.payload(body)

    def error(self, status, headers=(), close=False, text=None):
        page = ("<html><body><h1>%s</h1></body></html>\n" % (text or status)).encode()
        extra = [("Connection", "close")] if close else []
        self.reply(status, [("Content-Type", "text/html")] + list(headers) + extra, page)

    def redirect(self, location, status=302, headers=()):
        self.reply(status, [("Location", location), ("Content-Type", "text/html")] + list(headers), b"moved\n")

    def serve(self, content, *, etag=AUTO, modified=DATE, ranges=True, honours_if_range=True, cap=None, rate=None,
              stop_after=None, stop_at=None, ending="fin", headers=(), kind="application/octet-stream",
              length=AUTO, status=None):
        """The file, honestly, unless told otherwise.

        `cap`: at most so many bytes in a 206. `stop_after`: bytes of this body, `stop_at`: offset in the file, at
        which the body ends early, by `ending`: "fin", "reset" or "stall". `length`: another Content-Length;
        None: none, the close ends the body. `rate`: bytes a second.
        """
        size = content.size
        if etag is AUTO:
            etag = '"%s"' % content.tag
        fields = [("Content-Type", kind)]
        if etag:
            fields.append(("ETag", etag))
        if modified:
            fields.append(("Last-Modified", modified))
        if ranges:
            fields.append(("Accept-Ranges", "bytes"))
        span = self.span(size) if ranges and size else None
        condition = self.get("if-range")
        if span is not None and honours_if_range and condition is not None:
            strong = condition == etag and not condition.startswith("W/")
            if not strong and condition != modified:
                span = None
        if span == "bad":
            return self.reply(416, fields + [("Content-Range", "bytes */%d" % size)])
        wanted = self.get("if-none-match")
        if wanted and etag and wanted == etag:
            return self.reply(304, fields)
        start, end = span or (0, size)
        if span and cap:
            end = min(end, start + cap)
        if span:
            fields.append(("Content-Range", "bytes %d-%d/%d" % (start, end - 1, size)))
        if length is None:
            fields.append(("Connection", "close"))
            self.connection.keep = False
        else:
            fields.append(("Content-Length", end - start if length is AUTO else length))
        self.head(status or (206 if span else 200), fields + list(headers))
        if self.method == "HEAD":
            return None
        cut = end
        if stop_after is not None:
            cut = min(cut, start + stop_after)
        if stop_at is not None and start <= stop_at < cut:
            cut = stop_at
        self.stream(content, start, cut, rate)
        if cut < end or (length not in (AUTO, None) and length > end - start):
            self.end(ending)
        return None

    def stream(self, content, start, end, rate=None):
        """Body bytes [start, end) of the content, at a rate."""
        began, first = time.monotonic(), start
        piece = 16 * KIB if not rate else max(256, min(16 * KIB, int(rate / 50)))
        while start < end:
            data = content.read(start, min(piece, end - start))
            self.payload(data)
            start += len(data)
            if rate:
                ahead = (start - first) / rate - (time.monotonic() - began)
                if ahead > 0:
                    self.connection.sleep(ahead)

    def end(self, how="fin"):
        """Ends the connection: "fin", "reset" or (after a silence until the peer goes) "stall"."""
        self.entry["end"] = how
        self.connection.end(how)


class Connection:
    def __init__(self, server, sock, number):
        self.server, self.sock, self.number = server, sock, number
        self.keep, self.buffer = True, b""

    def send(self, data):
        if self.server.closing:
            raise Closed
        try:
            self.sock.sendall(data)
        except (OSError, ssl.SSLError) as problem:
            raise Closed from problem

    def sleep(self, seconds):
        if self.server.stopped.wait(seconds):
            raise Closed

    def read_request(self):
        while b"\r\n\r\n" not in self.buffer:
            data = self.receive()
            if not data:
                return None
            self.buffer += data
        raw, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        return raw

    def read_body(self, count):
        while len(self.buffer) < count:
            data = self.receive()
            if not data:
                raise Closed
            self.buffer += data
        body, self.buffer = self.buffer[:count], self.buffer[count:]
        return body

    def receive(self):
        try:
            return self.sock.recv(65536)
        except (OSError, ssl.SSLError):
            return b""

    def end(self, how):
        self.keep = False
        if how == "stall":
            self.sock.settimeout(60)
            while not self.server.closing and self.receive():
                pass
        elif how == "reset":
            _drain(self.sock)
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.sock.close()
        elif how == "abort":  # under TLS: the TCP connection ends, no close_notify was sent
            _drain(self.sock)
            time.sleep(0.05)
            raw = socket.socket(fileno=self.sock.detach())
            raw.shutdown(socket.SHUT_RDWR)
            raw.close()
        else:
            _drain(self.sock)
            if isinstance(self.sock, ssl.SSLSocket):
                try:
                    self.sock.settimeout(1)
                    self.sock.unwrap()  # sends close_notify
                except (OSError, ValueError):
                    pass
        raise Closed


def _drain(sock, limit=2.0):
    """Waits until the peer's kernel took everything, so that a reset does not destroy what was sent."""
    import fcntl
    import termios
    end = time.monotonic() + limit
    while time.monotonic() < end:
        try:
            left = struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, b"\0" * 4))[0]
        except (OSError, ValueError):
            return
        if not left:
            break
        time.sleep(0.003)
    time.sleep(0.02)


class Server:
    """Serves one handler on a free loopback port, over TLS when given a context."""

    def __init__(self, handler, *, host="127.0.0.1", tls=None, send_buffer=64 * KIB, on_accept=None):
        self.handler, self.tls, self.on_accept = handler, tls, on_accept
        self.log, self.body_sent, self.accepted, self.errors = [], 0, 0, []
        self.open_now = self.open_most = 0
        self.closing, self.stopped = False, threading.Event()
        self.lock = threading.Lock()
        self.state = {}  # for the handler
        self._sockets = set()
        self.host = host
        self._listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if send_buffer:
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self._listener.bind((host, 0))
        self._listener.listen(256)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    # -- addresses
    @property
    def scheme(self):
        return "https" if self.tls else "http"

    @property
    def origin(self):
        return "%s://%s:%d" % (self.scheme, "[%s]" % self.host if ":" in self.host else self.host, self.port)

    def url(self, target="/file.bin", user=None, host=None):
        where = host or ("[%s]" % self.host if ":" in self.host else self.host)
        return "%s://%s%s:%d%s" % (self.scheme, user + "@" if user else "", where, self.port, target)

    # -- what happened
    def count(self, number):
        with self.lock:
            self.body_sent += number

    def bump(self, name="hits"):
        """Counts something for the handler: 1 the first time."""
        with self.lock:
            self.state[name] = self.state.get(name, 0) + 1
            return self.state[name]

    def asked(self, path=None):
        """The logged GET requests (of a path)."""
        return [e for e in self.log if e["method"] == "GET"
                and (path is None or e["target"].split("?")[0] == path)]

    # -- serving
    def _accept(self):
        while not self.closing:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            with self.lock:
                self.accepted += 1
                number = self.accepted
            threading.Thread(target=self._client, args=(sock, number), daemon=True).start()

    def _client(self, sock, number):
        connection = None
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.on_accept and self.on_accept(sock, number) is False:
                return
            if self.tls:
                sock = self.tls.wrap_socket(sock, server_side=True)
            connection = Connection(self, sock, number)
            with self.lock:
                self._sockets.add(sock)
                self.open_now += 1
                self.open_most = max(self.open_most, self.open_now)
            while connection.keep and not self.closing:
                raw = connection.read_request()
                if raw is None:
                    break
                self._request(connection, raw)
        except (Closed, OSError, ssl.SSLError):
            pass
        except Exception as problem:  # a mistake of the check; shown with it
            import traceback
            self.errors.append(traceback.format_exc())
            self.log.append({"error": repr(problem), "method": "", "target": "", "range": None, "headers": []})
        finally:
            with self.lock:
                if sock in self._sockets:
                    self._sockets.discard(sock)
                    self.open_now -= 1
            try:
                sock.shutdown(socket.SHUT_WR) if not self.tls else None
            except OSError:
                pass
            try:
                sock.close()
            except OSError:
                pass

    def _request(self, connection, raw):
        with self.lock:
            number = len(self.log) + 1
            request = Request(connection, number, raw)
            self.log.append(request.entry)
        count = int(request.get("content-length") or 0)
        if request.get("expect"):
            request.raw(b"HTTP/1.1 100 Continue\r\n\r\n")
        request.body = connection.read_body(count) if count else b""
        request.entry["body"] = request.body
        if request.version == "HTTP/1.0" or (request.get("connection") or "").lower() == "close":
            connection.keep = False
        self.handler(request)
        request.entry["done"] = time.monotonic()

    def drop_all(self):
        """Ends every open connection."""
        with self.lock:
            sockets = list(self._sockets)
        for sock in sockets:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.closing = True
        self.stopped.set()
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        self.drop_all()


def header_date(seconds_from_now):
    return formatdate(time.time() + seconds_from_now, usegmt=True)


def parse_date(text):
    return parsedate_to_datetime(text)


__all__ = ["AUTO", "DATE", "LATER", "Closed", "Failed", "Request", "Server", "header_date", "parse_date"]
