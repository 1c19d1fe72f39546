import math
import threading

import numpy as np
import pytest

from accrue import scores, threads, verify

E = np.linspace(-3, 3, 2001)
S = np.linspace(0.5, 2, 2001)
ROW_SCORES = [scores.crps, scores.nlpd]
ALL_SCORES = [scores.mean_crps, scores.mean_nlpd, scores.reliability_score]


def plain_crps(e, s):
    z = e / s
    return s * (z * math.erf(z / math.sqrt(2)) + math.sqrt(2 / math.pi) * math.exp(-z * z / 2) - 1 / math.sqrt(math.pi))


def test_the_crps_is_that_of_the_formula():
    expected = [plain_crps(e, s) for e, s in zip(E, S)]
    # A few roundings of terms of order one; the terms cancel where the score is small.
    np.testing.assert_allclose(scores.crps(E, S), expected, rtol=1e-14, atol=1e-15)


def test_one_row_gives_a_float():
    assert scores.crps(0.0, 1.0) == pytest.approx(0.23369497725510905, rel=1e-15)
    assert scores.nlpd(0, 1) == pytest.approx(0.91893853320467274, rel=1e-15)
    assert isinstance(scores.crps(np.float64(0), 1), float)


@pytest.mark.parametrize("score", ROW_SCORES)
def test_one_number_stands_for_all_rows(score):
    np.testing.assert_array_equal(score(E, 2.0), score(E, np.full(E.shape, 2.0)))
    np.testing.assert_array_equal(score(0.5, S), score(np.full(S.shape, 0.5), S))


def test_shapes_broadcast_as_in_numpy():
    assert scores.crps(E[:6].reshape(2, 3), S[:3]).shape == (2, 3)
    assert scores.crps(E[:2, None], S[None, :3]).shape == (2, 3)
    with pytest.raises(ValueError):
        scores.crps(E[:2], S[:3])


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, ">f8"])
def test_other_types_of_number_are_converted(kind):
    e = np.array([1, 2, 3], kind)
    np.testing.assert_array_equal(scores.crps(e, 1.0), scores.crps(e.astype(float), 1.0))


def test_strided_arrays_are_read_right():
    np.testing.assert_array_equal(scores.crps(E[::2], S[::2]), scores.crps(E[::2].copy(), S[::2].copy()))


def test_masked_values_are_missing():
    e = np.ma.masked_array([0.0, 1.0], [False, True])
    assert np.isnan(scores.crps(e, [1.0, 1.0])).tolist() == [False, True]
    with pytest.raises(ValueError, match="sigma of row 2"):
        scores.crps([0.0, 1.0], np.ma.masked_array([1.0, 1.0], [False, True]))


def test_pandas_polars_xarray_and_dlpack_go_in():
    pandas, polars, xarray = (pytest.importorskip(name) for name in ("pandas", "polars", "xarray"))

    class OnlyDLPack:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    expected = scores.crps(E, S)
    for wrap in (pandas.Series, polars.Series, xarray.DataArray, list, OnlyDLPack):
        np.testing.assert_array_equal(scores.crps(wrap(E), wrap(S)), expected)


@pytest.mark.parametrize("score", ROW_SCORES)
def test_gradients_of_rows_are_those_of_differences(score):
    h = 1e-6
    _, slope = score(E, S, gradient=True)
    difference = (score(E, S + h) - score(E, S - h)) / (2 * h)
    # Central differences: h^2 of the formula, and rounding over h.
    np.testing.assert_allclose(slope, difference, atol=1e-8)


@pytest.mark.parametrize("score", [*ALL_SCORES, lambda e, s, **k: ar(e, s, **k)])
def test_gradients_of_means_are_those_of_differences(score):
    rng = np.random.default_rng(1)
    e, s, w = rng.normal(size=50), rng.uniform(0.5, 2, 50), rng.uniform(0.5, 2, 50)
    _, slope = score(e, s, weights=w, gradient=True)
    h = 1e-6
    for i in range(0, 50, 7):
        step = np.zeros(50)
        step[i] = h
        difference = (score(e, s + step, weights=w) - score(e, s - step, weights=w)) / (2 * h)
        assert slope[i] == pytest.approx(difference, abs=1e-8)


def ar(e, s, gradient=False, **more):
    result = scores.accuracy_reliability(e, s, beta=0.3, gradient=gradient, **more)
    return (result[0].value, result[1]) if gradient else result.value


def test_accuracy_reliability_is_the_weighted_sum_of_its_parts():
    result = scores.accuracy_reliability(E, S, beta=0.3)
    assert result.value == pytest.approx(0.3 * result.crps + 0.7 * result.rs, rel=1e-14)
    assert result.crps == pytest.approx(scores.mean_crps(E, S), rel=1e-14)


def test_equal_weights_give_the_unweighted_score():
    for score in ALL_SCORES:
        assert score(E, S, weights=np.full(E.shape, 3.0)) == pytest.approx(score(E, S), rel=1e-12)


def test_figures_of_errors_have_their_known_values():
    assert scores.effective_rows([1.0, 1.0, 0.0]) == 2
    assert scores.reliability_floor(100) == pytest.approx(0.39894228040143267794 / 100)
    best = scores.best_constant_sigma(E)
    assert scores.mean_crps(E, best) < min(scores.mean_crps(E, best * 1.01), scores.mean_crps(E, best / 1.01))
    assert 0 < scores.balanced_beta(E) <= 1
    assert scores.crps_minimum(E) < scores.mean_crps(E, best)


@pytest.mark.parametrize("sigma", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_a_sigma_that_is_not_positive_is_refused_with_its_row(sigma):
    with pytest.raises(ValueError, match="sigma of row 2"):
        scores.crps([0.0, 0.0], sigma)


def test_what_is_no_number_is_refused():
    with pytest.raises(ValueError, match="not numbers"):
        scores.crps(["a"], [1.0])
    with pytest.raises(ValueError, match="not numbers"):
        scores.crps(np.array(["2020-01-01"], "datetime64[D]"), [1.0])
    with pytest.raises(ValueError, match="Complex"):
        scores.crps(np.array([1j]), [1.0])


def test_results_do_not_depend_on_the_number_of_threads():
    rng = np.random.default_rng(2)
    e, s = rng.normal(size=100_000), rng.uniform(0.5, 2, 100_000)
    everything = scores.accuracy_reliability(e, s, gradient=True)
    with threads(1):
        alone = scores.accuracy_reliability(e, s, gradient=True)
    assert everything[0] == alone[0]
    np.testing.assert_array_equal(everything[1], alone[1])


def test_other_threads_of_python_run_meanwhile():
    e, s = np.zeros(500_000), np.ones(500_000)
    ticks = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            ticks.append(1)

    counter = threading.Thread(target=count)
    counter.start()
    for _ in range(5):
        before = len(ticks)
        scores.reliability_score(e, s)
        assert len(ticks) > before
    stop.set()
    counter.join()


def test_a_contiguous_array_is_not_copied():
    tracemalloc = pytest.importorskip("tracemalloc")
    e, s = np.zeros(1_000_000), np.ones(1_000_000)
    scores.mean_crps(e, s)
    tracemalloc.start()
    scores.mean_crps(e, s)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000  # a copy would be 8 MB


def test_pits_of_a_calibrated_forecast_pass_the_kolmogorov_test():
    rng = np.random.default_rng(3)
    result = verify.verify(rng.normal(0, S), S)  # seeded: by chance it would fail 1 time in 1000
    assert result["calibration_p_value"] > 0.001
    assert verify.pit([0.0], [1.0])[0] == 0.5
    assert np.isnan(verify.pit([np.nan, 0.0], [1.0, np.nan])).all()
    assert verify.pit(E[:6].reshape(2, 3), 1.0).shape == (2, 3)


def test_the_kolmogorov_distribution_is_consistent():
    for n in (10, 1000):
        d = verify.kolmogorov_quantile(n, 0.9)
        assert verify.kolmogorov_cdf(n, d) == pytest.approx(0.9, abs=1e-9)
        assert verify.kolmogorov_survival(n, d) == pytest.approx(0.1, abs=1e-9)


def test_values_of_a_column_are_verified_one_by_one_and_groups_are_resampled():
    labels = np.where(E > 0, "warm", "cold")
    result = verify.verify(E, S, by={"season": labels})
    assert [column["column"] for column in result["by"]] == ["season"]
    assert [value["name"] for value in result["by"][0]["values"]] == ["cold", "warm"]
    assert "group_band_90_pointwise" not in result["reliability_diagram"]
    result = verify.verify(E, S, groups=labels)
    assert result["by"] == []
    assert "group_band_90_pointwise" in result["reliability_diagram"]


def test_what_cannot_be_verified_is_refused():
    with pytest.raises(ValueError, match="error of row 2 is nan, but must be finite"):
        verify.verify([1.0, np.nan], [1.0, 1.0])
    for bad in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="sigma of row 1 is .*, but must be positive"):
            verify.verify([1.0, 1.0], [bad, 1.0])
    with pytest.raises(ValueError, match="sigma of row 1 is -1.0, but must be positive"):
        verify.pit([1.0], [-1.0])
