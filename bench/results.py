"""What the scripts of this folder share: the machine and the commit, processes and the suites measured, tables, figures."""

import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent


def first_line(path, key):
    """The value of the first "key : value" line of a file of the kernel's; nothing where there is none."""
    try:
        for line in Path(path).read_text().splitlines():
            if line.split(":")[0].strip() == key:
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return ""


def machine():
    caches = {}
    for cache in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = ((cache / name).read_text().strip() for name in ("level", "type", "size"))
        caches[f"L{level} {kind}"] = size
    return {
        "cpu": first_line("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "caches": caches,
        "memory": first_line("/proc/meminfo", "MemTotal"),
        "system": f"{platform.system()} {platform.release()}, {'-'.join(platform.libc_ver())}",
    }


def commit():
    """The commit of the checkout, with a plus where files differ from it; "unknown" outside of one."""
    git = lambda *words: subprocess.run(
        ["git", "-C", ROOT, *words], capture_output=True, text=True, check=True
    ).stdout.strip()
    try:
        return git("rev-parse", "--short=12", "HEAD") + (
            "+" if git("status", "--porcelain", "--untracked-files=no") else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def header():
    return {"machine": machine(), "commit": commit(), "date": time.strftime("%Y-%m-%d %H:%M")}


def describe(result):
    m = result["machine"]
    caches = ", ".join(f"{name} {size}" for name, size in m["caches"].items())
    return f"{m['cpu']}, {m['cores']} cores, {caches}, memory {m['memory']}; {m['system']}; commit {result['commit']}, {result['date']}"


class Process(NamedTuple):
    seconds: float  # of wall time
    megabytes: float  # largest resident memory
    output: str


class TimedOut(Exception):
    pass


def process(command, limit=None, **options):
    """Runs a command to its end, or for `limit` seconds, after which it is killed and TimedOut is thrown."""
    begin = time.perf_counter()
    child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True, **options)
    late = threading.Event()
    clock = threading.Timer(limit or 0, lambda: (late.set(), child.kill()))
    if limit:
        clock.start()
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)  # Popen's own wait does not tell the memory
    seconds = time.perf_counter() - begin
    clock.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    child.stdout.close()
    if late.is_set():
        raise TimedOut
    if child.returncode != 0:
        raise subprocess.CalledProcessError(child.returncode, command)
    return Process(seconds, usage.ru_maxrss / 1024, output)


def suite(build, pattern=".", repetitions=5, seconds=0.1):
    """The Google Benchmark suites, by name; of repetitions the one of median time counts. Repetitions of all take turns: what disturbs the machine for a while
    disturbs all alike."""
    report = Path(build) / "bench_accrue.json"
    done = subprocess.run(
        [
            Path(build) / "bin/bench_accrue",
            f"--benchmark_filter={pattern}",
            f"--benchmark_repetitions={repetitions}",
            f"--benchmark_min_time={seconds}",
            "--benchmark_enable_random_interleaving=true",
            f"--benchmark_out={report}",
            "--benchmark_out_format=json",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"bench_accrue failed with {done.returncode}:\n{done.stderr}")
    units = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
    repeated = {}
    for run in json.loads(report.read_text())["benchmarks"]:
        if run.get("error_occurred"):
            sys.exit(f"{run['name']}: {run['error_message']}")
        if run["run_type"] == "iteration":
            repeated.setdefault(run["run_name"].replace("/real_time", ""), []).append(run)
    measured = {}
    place = lambda runs: (runs[0]["family_index"], runs[0]["per_family_instance_index"])
    for name, runs in sorted(repeated.items(), key=lambda item: place(item[1])):
        run = sorted(runs, key=lambda r: r["real_time"])[len(runs) // 2]
        arguments = {key: int(value) for key, value in re.findall(r"(\w+):(\d+)", name)}
        counters = ("rows", "bytes_per_row", "flops_per_row", "memory_per_row", "bytes_per_second", "flops_per_second")
        measured[name] = {
            "part": name.split("/")[0],
            "arguments": arguments,
            "seconds": run["real_time"] * units[run["time_unit"]],
            "rows_per_second": run.get("items_per_second", 0),
            **{key: run[key] for key in counters if run.get(key)},
        }
    report.unlink()
    return measured


def table(head, rows):
    """Markdown: text to the left, numbers to the right."""
    rows = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in [head, *rows]) for k in range(len(head))]
    numeric = [k > 0 and all(re.match(r"^(-?[\d.,<>]+.*|)$", row[k]) for row in rows) for k in range(len(head))]
    line = lambda row: (
        "| " + " | ".join(c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, widths, numeric)) + " |"
    )
    rule = "|" + "|".join("-" * (w + 1) + (":" if n else "-") for w, n in zip(widths, numeric)) + "|"
    return "\n".join([line(head), rule, *map(line, rows)])


def short(value, unit=""):
    """Three figures, with a letter for thousands."""
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= factor:
            return f"{value / factor:.3g}{letter}{unit}"
    return f"{value:.3g}{unit}"


def duration(seconds):
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= factor:
            return f"{seconds / factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def threads_of(count):
    return "1 thread" if count == 1 else f"{count} threads"


class Figures:
    """What is measured beside what is asked, a line each, and the same for the JSON file."""

    def __init__(self):
        self.lines = []
        self.subject = ""

    def full(self, what):
        """ "the same: ..." is of the figure before it; every line can stand for itself."""
        if what.startswith("the same: "):
            return f"{self.subject}: {what.removeprefix('the same: ')}"
        self.subject = what.rsplit(": ", 1)[0]
        return what

    def add(self, what, value, at_least=None, at_most=None, unit="", note=""):
        bound, met = (at_least, value >= at_least) if at_least is not None else (at_most, value <= at_most)
        self.lines.append(
            {
                "figure": self.full(what),
                "measured": value,
                "unit": unit,
                "asked": f"at {'least' if at_least is not None else 'most'} {bound:g}{unit}",
                "met": met,
                "note": note,
            }
        )

    def miss(self, what, why):
        """A figure that this run could not give."""
        self.lines.append({"figure": self.full(what), "measured": None, "asked": why, "met": None})

    def show(self):
        for line in self.lines:
            if line["measured"] is None:
                print(f"{line['figure']}: not measured ({line['asked']})")
            else:
                note = f"; {line['note']}" if line["note"] else ""
                print(
                    f"{line['figure']}: {line['measured']:.3g}{line['unit']} ({line['asked']}{note}){'' if line['met'] else '  MISSED'}"
                )


def finish(result, figures, out):
    """The result with its figures as JSON, and the figures for people."""
    result["figures"] = figures.lines
    out.write_text(json.dumps(result, indent=1) + "\n")
    print()
    figures.show()
    print(f"\nwritten to {out}; compare two such files by bench/compare OLD.json NEW.json", file=sys.stderr)
