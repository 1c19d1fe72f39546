#!/usr/bin/python3
"""fit, evaluate and predict on an archive larger than the memory that they may use: time and peak memory of each.

The archive is 5D of `accrue generate`, a million rows at a time until it has the wanted size (four different millions, again and
again). It is read under a limit on the address space (ulimit -v) and, where this machine lets us make one, in a control group.
The fit has one start in each of two folds, which is enough to see its memory; what it learns is not the point here.
"""

import argparse
import array
import os
import re
import resource
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MILLION = 10**6
DIFFERENT = 4


def blocks(accrue):
    """The header, then the rows of a million, over and over."""
    texts = [subprocess.run([accrue, "generate", "5D", "--rows", str(MILLION), "--seed", str(seed), "-o", "-"], check=True,
                            stdout=subprocess.PIPE).stdout.split(b"\n", 1) for seed in range(1, DIFFERENT + 1)]
    yield texts[0][0]
    while True:
        for _, rows in texts:
            yield rows


def write_csv(file, accrue, size):
    source = blocks(accrue)
    with open(file, "wb") as out:
        out.write(next(source) + b"\n")
        while out.tell() < size:
            out.write(next(source))


def write_netcdf(file, accrue, size):
    """CDF-5: a header that counts in 64 bits, then every variable's doubles, one after the other."""
    source = blocks(accrue)
    names = next(source).decode().split(",")
    million = 8 * len(names) * MILLION
    rows = -(-size // million) * MILLION

    def text(name):
        return struct.pack(">q", len(name)) + name.encode() + b"\0" * (-len(name) % 4)

    def header(first):
        made = b"CDF\x05" + struct.pack(">q", 0)
        made += struct.pack(">iq", 10, 1) + text("row") + struct.pack(">q", rows)
        made += struct.pack(">iq", 0, 0) + struct.pack(">iq", 11, len(names))
        for k, name in enumerate(names):
            made += text(name) + struct.pack(">qq", 1, 0) + struct.pack(">iq", 0, 0)
            made += struct.pack(">iqq", 6, 8 * rows, first + 8 * rows * k)
        return made

    first = len(header(0))
    columns = []  # of the different millions, as bytes
    for _, body in zip(range(DIFFERENT), source):
        values = array.array("d", map(float, body.replace(b"\n", b",").rstrip(b",").split(b",")))
        if sys.byteorder == "little":
            values.byteswap()
        columns.append([values[k::len(names)].tobytes() for k in range(len(names))])
    with open(file, "wb") as out:
        out.write(header(first))
        for k in range(len(names)):
            for block in range(rows // MILLION):
                out.write(columns[block % DIFFERENT][k])


class ControlGroup:
    """A group of our own with a limit, in version 1 or 2; `path` is None where none can be made."""

    def __init__(self, limit):
        self.path = None
        one, two = Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")
        for top, name, self.peak_name in ((one, "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
                                          (two, "memory.max", "memory.peak")):
            path = top / f"accrue-bench-{os.getpid()}"
            try:
                path.mkdir()
                (path / name).write_text(str(limit))
                self.path = path
                return
            except OSError:
                if path.is_dir():
                    path.rmdir()

    def enter(self):
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        if self.path:
            self.path.rmdir()


def run(name, command, limit, in_child):
    begin = time.perf_counter()
    child = subprocess.Popen(list(map(str, command)), preexec_fn=in_child, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out = child.stdout.read()
    error = child.stderr.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - begin
    said = out.split("\n", 1)[0] if child.returncode == 0 else f"FAILED ({child.returncode}): {error.strip()}"
    said = re.sub(r"\S*/(\S+)", r"\1", said)
    print(f"  {limit:8} {name:9} {seconds:6.1f} s  CPU {usage.ru_utime + usage.ru_stime:6.1f} s  peak {usage.ru_maxrss / 1024:5.0f} MiB  {said}",
          flush=True)
    return child.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--accrue", default=ROOT / "build/bin/accrue")
    parser.add_argument("--format", choices=("csv", "netcdf"), default="csv")
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--limit", type=float, default=1, help="gigabytes (10^9 bytes)")
    parser.add_argument("--form", default="network", help="of the fit")
    parser.add_argument("--folder", help="for the files, three times as large as the archive; default: a temporary one")
    options = parser.parse_args()
    limit = int(options.limit * 1e9)
    good = True
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        ending = "csv" if options.format == "csv" else "nc"
        data, model, output = (Path(folder) / name for name in (f"archive.{ending}", "model.json", f"out.{ending}"))
        write = write_csv if options.format == "csv" else write_netcdf
        write(data, options.accrue, int(options.gigabytes * 1e9))
        print(f"{options.format}: {data.stat().st_size / 1e9:.2f} GB, limit {limit / 1e9:.2f} GB", flush=True)
        roles = ["--prediction", "f", "--observation", "y"]
        commands = [
            ("evaluate", ["evaluate", data, *roles, "--sigma", "true_sigma"]),
            ("fit", ["fit", data, *roles, "--inputs", "x1" if options.form == "polynomial" else "x1,x2,x3,x4,x5", "--form",
                     options.form, "--folds", "2", "--starts", "1", "--quiet", "-o", model]),
            ("evaluate", ["evaluate", data, *roles, "--model", model]),
            ("predict", ["predict", model, data, "--interval", "0.9", "-o", output]),
        ]
        group = ControlGroup(limit)
        ways = [("ulimit -v", lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))]
        if group.path:
            ways.append(("cgroup", group.enter))
        else:
            print("  no control group can be made here")
        try:
            for way, in_child in ways:
                for name, command in commands:
                    good = run(name, [options.accrue, *command], way, in_child) and good
        finally:
            group.remove()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
