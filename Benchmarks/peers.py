"""Command lines of Haul and its peers for the same piece of work."""
import os
import shlex
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "scripts", "checks"))

from support.harness import haul_command  # noqa: E402


def haul(*arguments):
    return haul_command() + ["get", "--quiet", *map(str, arguments)]


def curl(url, output, *more):
    return ["curl", "-q", "--fail", "--silent", "--show-error", *map(str, more), "-o", output, url]


def curl_synced(url, output, *more):
    """curl, then one `sync` of the file: what Haul promises before it says finished."""
    line = " ".join(map(shlex.quote, curl(url, output, *more)))
    return ["sh", "-c", "%s && sync %s" % (line, shlex.quote(output))]


def curl_list(urls, directory, config, *more):
    """Many URLs at once; the configuration file is written for it."""
    with open(config, "w") as file:
        for url in urls:
            file.write('url = "%s"\noutput = "%s"\n' % (url, os.path.join(directory, url.rsplit("/", 1)[1])))
    return ["curl", "-q", "--fail", "--silent", "--show-error", "-Z", "--parallel-max", "50", *map(str, more),
            "-K", config]


ARIA2 = ["aria2c", "--no-conf=true", "--no-netrc=true", "--enable-color=false", "--summary-interval=0",
         "--show-console-readout=false", "--console-log-level=error", "--download-result=hide", "--enable-dht=false",
         "--file-allocation=none", "--allow-overwrite=true", "--auto-file-renaming=false", "--quiet=true"]


def aria2(url, output, *more):
    directory, name = os.path.split(output)
    return ARIA2 + [*map(str, more), "--dir", directory, "--out", name, url]


def aria2_list(listed, directory, *more):
    return ARIA2 + [*map(str, more), "--dir", directory, "--input-file", listed, "--max-concurrent-downloads=50"]


def axel(url, output, connections):
    return ["axel", "--no-proxy", "-q", "-n", str(connections), "-o", output, url]


def wget2_list(listed, directory, *more):
    return ["wget2", "--no-config", "--quiet", "--no-robots", "--no-hsts", "--no-hpkp", "--no-ocsp",
            "--tls-session-file=", "--no-netrc", "--no-proxy", *map(str, more), "-P", directory, "-i", listed]
