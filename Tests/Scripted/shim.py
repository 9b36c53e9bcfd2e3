"""Building and using `shim.c`, which stands between Haul and the C library for a few checks."""
import os
import signal
import subprocess
import threading
import time

from common import HERE, Failed

_lock = threading.Lock()
_built = {}


def library(box_root):
    """The path of the built shim."""
    with _lock:
        if "path" not in _built:
            import atexit
            import shutil
            import tempfile
            directory = tempfile.mkdtemp(prefix="haul-shim-")
            atexit.register(shutil.rmtree, directory, True)
            path = os.path.join(directory, "shim.so")
            done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", path, os.path.join(HERE, "shim.c"),
                                   "-ldl"], capture_output=True, text=True)
            if done.returncode:
                raise Failed("the shim does not build: " + done.stderr[-300:])
            os.chmod(directory, 0o755)
            _built["path"] = path
        return _built["path"]


def shim_environment(box, **settings):
    """Environment variables that put the shim before the C library; keys become SHIM_KEY."""
    env = {"LD_PRELOAD": library(box.root)}
    env.update({"SHIM_" + key.upper(): str(value) for key, value in settings.items()})
    return env


def hold_publishing(box, *arguments):
    """Runs `haul get`, stops it at the moment it would give the final name, and kills it there. The marker's path."""
    marker = os.path.join(box.root, "held")
    live = box.start(*arguments, env=shim_environment(box, hold=marker))
    end = time.monotonic() + 20
    while not os.path.exists(marker) and live.running() and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(0.1)
    live.signal(signal.SIGKILL)
    box.runs.append(live.wait(5))
    return marker
