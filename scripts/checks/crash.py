#!/usr/bin/env python3
"""Kills `haul get` at random moments of a segmented download, again and again, and looks at what is left each time.

A server of its own paces every connection and counts the body bytes that it sent. A download is run, killed with
SIGKILL at a random moment and run again, until a run ends by itself or the kills are used up; then the next download
begins. In the end every file must be byte-exact with nothing beside it, and no kill may have cost more than 1 MiB per
connection. Everything random comes from --seed.
"""
import argparse
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from support import harness  # noqa: E402
from support.harness import KIB, MIB, Box, Content, Failed, Live, Report, expect  # noqa: E402
from support.scripted import Server  # noqa: E402

CONNECTIONS = 4
PACE = 24 * MIB  # bytes a second and connection: an undisturbed download takes a few seconds
UNREAD = 256 * KIB  # per connection: sent, but still in the kernel's buffers when the process died


def one_download(number, size, kills, chance, report):
    """Runs one download under fire; how many kills it took."""
    box = Box()
    name = "download %d" % number
    content = Content("crash-%d" % number, size)
    content.sha256  # before the server is under load
    server = box.server(Server(lambda rq: rq.serve(content, rate=PACE), send_buffer=64 * KIB))
    path = box.path("file.bin")
    command = harness.haul_command() + ["get", "-c", str(CONNECTIONS), "--retries", "5", "--retry-wait", "0.2",
                                        "--quiet", "-o", path, server.url()]
    whole = size / PACE / CONNECTIONS
    killed = 0
    try:
        while True:
            live = Live(command, env=box.environment(), cwd=box.dl)
            if killed >= kills:
                run = live.wait(120)
                expect(run.rc == 0, "exit %d: %s" % (run.rc, run.said()))
                break
            # Short lives are the most telling ones; some are long enough to end.
            try:
                live.child.wait(chance.uniform(0.03, 0.12) if chance.random() < 0.3
                                else chance.uniform(0.05, max(0.15, whole / 4)))
            except subprocess.TimeoutExpired:
                pass
            if not live.running():
                run = live.wait(1)
                expect(run.rc == 0, "exit %d: %s" % (run.rc, run.said()))
                break
            live.signal(signal.SIGKILL)
            live.wait(10)
            killed += 1
            if box.finals():
                # The kill came after the file was published, and before the program ended: then it must be whole.
                box.holds("file.bin", content, only=False)
                expect(box.finals() == ["file.bin"], "more than the file at its name: %r" % box.tree())
            extra = [n for n in box.tree() if n not in ("file.bin", "file.bin.part", "file.bin.part.haul")]
            expect(not extra, "stray files after a kill: %r" % extra)
        time.sleep(0.1)
        again = server.body_sent - size
        bound = killed * CONNECTIONS * (MIB + UNREAD)
        expect(again <= bound, "%d kills cost %d bytes fetched again, at most %d" % (killed, again, bound))
        box.holds("file.bin", content)
        report.line(True, "%s: %d kills, byte-exact, %.2f MiB a kill fetched again, nothing left over"
                    % (name, killed, max(0, again) / MIB / max(1, killed)))
    except Failed as problem:
        report.line(False, "%s after %d kills" % (name, killed), str(problem))
        killed = max(killed, 1)
    finally:
        box.close()
    return killed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100, help="kills in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="%(default)s")
    parser.add_argument("--size", type=int, default=256, metavar="MIB", help="size of each download (%(default)s)")
    options = parser.parse_args()
    harness.require_haul()
    harness.install_clean_up()
    report = Report()
    chance = random.Random(options.seed)
    left, number = options.kills, 0
    while left > 0:
        number += 1
        left -= one_download(number, options.size * MIB, left, chance, report)
    return report.close()


if __name__ == "__main__":
    sys.exit(main())
