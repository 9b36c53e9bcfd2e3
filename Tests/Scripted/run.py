#!/usr/bin/env python3
"""Checks `haul get` against small scripted servers: one check or more for every case that a foreground command meets.

Each check has a server and directories of its own, and judges together: the digest of the file, the exit status, the
requests that the server saw, the body bytes it sent, and what is left on the disk. Loopback only; the command is
$HAUL, or .build/release/haul. Some checks mount a small tmpfs or use another user, so they need root.
"""
import argparse
import sys

sys.dont_write_bytecode = True

import common  # noqa: E402, F401  (finds the shared modules)
from support import harness  # noqa: E402

import complete  # noqa: E402, F401
import disk  # noqa: E402, F401
import names  # noqa: E402, F401
import redirects  # noqa: E402, F401
import resume  # noqa: E402, F401
import retry  # noqa: E402, F401
import terminal  # noqa: E402, F401

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    harness.add_options(parser)
    sys.exit(harness.main(parser.parse_args()))
