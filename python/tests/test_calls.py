"""Thousands of calls in one process leave nothing behind: no memory, no threads, no open files.

A few hundred of each by default; ACCRUE_CALLS=10000 makes as many (make calls)."""

import ctypes
import gc
import os
import sys
import typing

import numpy as np
import pytest

import accrue
from accrue._options import Form

COUNT = int(os.environ.get("ACCRUE_CALLS", "500"))

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="no /proc")


class MallInfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def heap():
    """Bytes that malloc handed out and did not get back, in all arenas; 0 where the C library does not tell."""
    mallinfo = getattr(ctypes.CDLL(None), "mallinfo2", None)
    if mallinfo is None:
        return 0
    mallinfo.restype = MallInfo
    info = mallinfo()
    return info.uordblks + info.hblkhd


def held():
    gc.collect()
    with open("/proc/self/statm") as pages:
        resident = int(pages.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    return {
        "heap": heap(),
        "blocks": sys.getallocatedblocks(),
        "resident": resident,
        "threads": len(os.listdir("/proc/self/task")),
        "files": len(os.listdir("/proc/self/fd")),
    }


STRETCHES = 5


def assert_flat(call):
    # As in tests/properties/calls_test.cpp, which has the reasons: of five stretches of calls the median counts, because a
    # thread keeps some memory for itself when it first gets a task of some kind.
    warm_up = min(COUNT // 2, 200)
    stretch = (COUNT - warm_up) // STRETCHES
    ends = [warm_up + k * stretch for k in range(STRETCHES + 1)]
    seen = []
    for begin, end in zip([0, *ends], ends):
        for i in range(begin, end):
            call(i)
        seen.append(held())
    growth = {name: seen[-1][name] - seen[0][name] for name in seen[0]}
    median = {name: sorted(b[name] - a[name] for a, b in zip(seen, seen[1:]))[STRETCHES // 2] for name in seen[0]}
    figures = f"{ends[-1] - warm_up} calls after {warm_up}: {growth}, medians {median}, of {seen[-1]}"
    print(figures)
    assert growth["threads"] <= 0, figures
    assert growth["files"] == 0, figures
    # A leak of 100 bytes a call is 6.7 KiB in a stretch of 60.
    assert median["heap"] <= 5 * 1024 + 4 * stretch, figures
    # Objects of Python's own. Those that evaluations leave grow at first, by some 40 a stretch, and stay 200 to 350 above
    # after 800 calls as after 9,800; one a call would be 60 more.
    assert median["blocks"] <= 50 + stretch / 2, figures
    # A thread for each fit kept 8 KiB, and an arena of oneTBB 7 KiB: 0.4 MB in a stretch of 60.
    assert median["resident"] <= 256 * 1024 + 8 * stretch, figures


FORMS = typing.get_args(Form)


def options(i):
    return {
        "form": FORMS[i % len(FORMS)],
        "recalibrate": "isotonic" if i % 3 == 0 else "none",
        "bias": "linear" if i % 5 == 0 else "none",
        "folds": 2,
        "starts": 1,
        "max_iterations": 2,
    }


@pytest.fixture(scope="module")
def few(archive):
    return {name: np.array(values[:20]) for name, values in archive.items()}


def fitted(table, i):
    return accrue.fit(table, columns=["x"], prediction="f", observation="y", progress=False, **options(i))


def test_fits_leave_nothing_behind(few):
    assert_flat(lambda i: fitted(few, i).verification["crps"])


def test_predictions_leave_nothing_behind(few, tmp_path):
    for k in range(12):
        fitted(few, k).save(tmp_path / f"{k}.json")

    def call(i):
        forecast = accrue.Model.load(tmp_path / f"{i % 12}.json").predict(few)
        forecast.quantile([0.1, 0.9])
        forecast.cdf(few["y"])
        forecast.sample(3, seed=i)

    assert_flat(call)


def test_evaluations_leave_nothing_behind(few):
    models = [fitted(few, k) for k in range(12)]
    error, sigma = few["y"] - few["f"], few["true_sigma"]
    sites = np.arange(20) % 2

    def call(i):
        models[i % 12].evaluate(few, observation="y", compare={"true": "true_sigma"})
        accrue.verify.verify(error, sigma, by={"site": sites})
        accrue.verify.pit(error, sigma)
        accrue.scores.accuracy_reliability(error, sigma, gradient=True)
        accrue.scores.mean_crps(error, sigma)

    assert_flat(call)


def test_refusals_leave_nothing_behind(few, tmp_path):
    (tmp_path / "broken.json").write_text(fitted(few, 0).to_json()[:1000])

    def call(i):
        with pytest.raises(ValueError):
            if i % 3 == 0:
                accrue.Model.load(tmp_path / "broken.json")
            elif i % 3 == 1:
                accrue.verify.verify([1.0], [-1.0])
            else:
                accrue.fit({"x": [1.0, 2.0]}, error=[0.0, 0.0], progress=False)

    assert_flat(call)
