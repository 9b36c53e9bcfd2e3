#!/usr/bin/env python3
"""The servers of the benchmarks, all on free loopback ports.

As a script: `loopback.py relay PORT DELAY_MS` passes TCP on with a delay each way; `loopback.py paced FILE RATE
SLOW_RATE` serves one file with ranges, each connection at RATE bytes a second, one in five at SLOW_RATE (0: none).
Both print their port first; `paced` then prints a line with the seconds since its start for each new connection.
"""
import asyncio
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "checks"))


# ---------------------------------------------------------------- run in processes of their own
async def relay(port, delay):
    loop = asyncio.get_running_loop()

    async def pump(reader, writer):
        queue = asyncio.Queue()

        async def late():
            while True:
                due, data = await queue.get()
                wait = due - loop.time()
                if wait > 0:
                    await asyncio.sleep(wait)
                if data is None:
                    writer.close()
                    return
                writer.write(data)
                await writer.drain()
        task = asyncio.ensure_future(late())
        try:
            while data := await reader.read(262144):
                queue.put_nowait((loop.time() + delay, data))
        except OSError:
            pass
        queue.put_nowait((loop.time() + delay, None))
        try:
            await task
        except OSError:
            writer.close()

    async def client(reader, writer):
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            writer.close()
            return
        await asyncio.gather(pump(reader, far_writer), pump(far_reader, writer), return_exceptions=True)

    server = await asyncio.start_server(client, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


async def paced(path, rate, slow_rate):
    size = os.path.getsize(path)
    started = time.monotonic()
    file = open(path, "rb")
    count = 0

    async def client(reader, writer):
        nonlocal count
        count += 1
        mine = slow_rate if slow_rate and count % 5 == 3 else rate
        print("%.4f" % (time.monotonic() - started), flush=True)
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                await answer(head, writer, mine)
                if "connection: close" in head.lower() or " HTTP/1.0" in head:
                    break
        except (OSError, asyncio.IncompleteReadError):
            pass
        writer.close()

    async def answer(head, writer, mine):
        start, end, status = 0, size, "200 OK"
        extra = ""
        for line in head.split("\r\n")[1:]:
            name, _, value = line.partition(":")
            value = value.strip()
            if name.lower() == "range" and value.startswith("bytes="):
                first, _, last = value[6:].partition("-")
                start = int(first)
                end = min(size, int(last) + 1) if last else size
                status, extra = "206 Partial Content", "Content-Range: bytes %d-%d/%d\r\n" % (start, end - 1, size)
        writer.write(("HTTP/1.1 %s\r\nContent-Type: application/octet-stream\r\nAccept-Ranges: bytes\r\n"
                      "ETag: \"bench\"\r\nContent-Length: %d\r\n%s\r\n" % (status, end - start, extra)).encode())
        if head.startswith("HEAD"):
            return
        began, sent, piece = time.monotonic(), 0, max(4096, min(65536, mine // 32))
        while start < end:
            data = os.pread(file.fileno(), min(piece, end - start), start)
            writer.write(data)
            await writer.drain()
            start += len(data)
            sent += len(data)
            ahead = sent / mine - (time.monotonic() - began)
            if ahead > 0:
                await asyncio.sleep(ahead)

    server = await asyncio.start_server(client, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# ---------------------------------------------------------------- used by the benchmarks
class Helper:
    """One of the above as a child process; `lines` holds what it printed after the port."""

    def __init__(self, *arguments):
        from support.harness import spawn
        self.child = spawn([sys.executable, os.path.abspath(__file__), *map(str, arguments)],
                           stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True)
        self.port = int(self.child.stdout.readline())
        self.lines = []
        import threading
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.append(float(line))

    def close(self):
        from support.harness import stop
        stop(self.child)


class Nginx:
    """nginx for the benchmarks: plain, TLS, TLS with HTTP/2; no logs."""

    def __init__(self, root, docs, tls):
        import shutil
        import socket
        from support.harness import spawn

        def free():
            with socket.socket() as sock:
                sock.bind(("127.0.0.1", 0))
                return sock.getsockname()[1]
        self.http, self.tls1, self.tls2 = free(), free(), free()
        self.ca = tls.ca
        home = os.path.join(root, "nginx")
        os.mkdir(home)
        temporary = "".join("%s_temp_path %s/%s;\n" % (n, home, n) for n in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        keys = "ssl_certificate %s; ssl_certificate_key %s;" % (tls.cert, tls.key)
        with open(os.path.join(home, "nginx.conf"), "w") as file:
            file.write("""
daemon off; worker_processes 1; user root; pid %(home)s/pid; error_log %(home)s/error.log;
events { worker_connections 4096; }
http {
  %(temporary)s
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; gzip off; etag on;
  open_file_cache max=20000 inactive=600s; open_file_cache_valid 600s;
  server {
    listen 127.0.0.1:%(http)d backlog=1024; listen 127.0.0.1:%(tls1)d ssl backlog=1024;
    listen 127.0.0.1:%(tls2)d ssl http2 backlog=1024;
    %(keys)s root %(docs)s;
    location /slow/ { alias %(docs)s/; limit_rate 4m; }
  }
}
""" % {"home": home, "temporary": temporary, "http": self.http, "tls1": self.tls1, "tls2": self.tls2, "keys": keys,
                "docs": docs})
        binary = shutil.which("nginx", path="/usr/sbin:/usr/bin:" + os.environ.get("PATH", ""))
        if binary is None:
            sys.exit("nginx is not installed")
        self.child = spawn([binary, "-p", home, "-e", home + "/error.log", "-c", home + "/nginx.conf"],
                           stdin=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.http), 1).close()
                break
            except OSError:
                if self.child.poll() is not None or time.monotonic() > end:
                    sys.exit("nginx did not start")
                time.sleep(0.05)

    def close(self):
        from support.harness import stop
        stop(self.child)


if __name__ == "__main__":
    try:
        if sys.argv[1] == "relay":
            asyncio.run(relay(int(sys.argv[2]), float(sys.argv[3]) / 1000))
        else:
            asyncio.run(paced(sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
    except KeyboardInterrupt:
        pass
