"""Ensembles, quantile forecasts, baselines and further scores, against NumPy."""

import accrue
import numpy as np
import pytest


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    mu = rng.normal(size=300)
    sigma = np.exp(0.3 * rng.normal(size=300))
    members = mu[:, None] + sigma[:, None] * rng.normal(size=(300, 7))
    table = {"mu": mu, "sigma": sigma, "y": mu + sigma * rng.normal(size=300)}
    table.update({f"P{k}": members[:, k] for k in range(7)})
    table.update({"q10": mu - 1.28 * sigma, "q90": mu + 1.28 * sigma})
    return table


def ensemble_crps(members, y, fair):
    m = members.shape[1]
    pairs = np.abs(members[:, :, None] - members[:, None, :]).sum((1, 2))
    return (np.abs(members - y[:, None]).mean(1) - pairs / (2 * m * (m - 1 if fair else m))).mean()


def test_ensembles_are_arrays_or_columns(rows):
    members = np.column_stack([rows[f"P{k}"] for k in range(7)])
    by_array = accrue.evaluate(observation=rows["y"], members=members)
    by_pattern = accrue.evaluate(rows, observation="y", members="P*")
    by_names = accrue.evaluate(rows, observation="y", members=[f"P{k}" for k in range(7)])
    assert by_array == by_pattern == by_names
    np.testing.assert_allclose(by_array["crps"], ensemble_crps(members, rows["y"], False), rtol=1e-12)
    np.testing.assert_allclose(by_array["fair_crps"], ensemble_crps(members, rows["y"], True), rtol=1e-12)
    assert by_array["verdict"]["summary"]


def test_quantiles(rows):
    result = accrue.evaluate(rows, observation="y", quantiles={0.1: "q10", 0.9: rows["q90"]})
    wanted = [np.mean((rows["y"] - rows[q]) * (level - (rows["y"] < rows[q]))) for level, q in ((0.1, "q10"), (0.9, "q90"))]
    np.testing.assert_allclose([one["score"] for one in result["quantile_scores"]], wanted, rtol=1e-12)
    np.testing.assert_allclose(result["crps"], sum(wanted), rtol=1e-12)
    with pytest.raises(ValueError, match=r"row 1, columns '0.1' and '0.9': quantiles cross"):
        accrue.evaluate(rows, observation="y", quantiles={0.1: "q90", 0.9: "q10"})
    with pytest.raises(ValueError, match="quantiles: the level of '2"):
        accrue.evaluate(rows, observation="y", quantiles={2: "q90"})


def test_all_side_by_side(rows):
    compared = accrue.compare(
        {"sigma": "sigma"},
        rows,
        prediction="mu",
        observation="y",
        members="P*",
        quantiles={0.1: "q10", 0.9: "q90"},
        baselines=["constant", "climatology", "isotonic"],
        exceed=[0.5],
        quantile_scores=[0.5],
        decompose=True,
    )
    names = [one["name"] for one in compared.content["forecasts"]]
    assert names == ["sigma", "members", "quantiles", "baseline constant", "baseline climatology", "baseline isotonic"]
    first = compared.content["forecasts"][0]
    assert first["exceed"][0]["threshold_weighted_crps"] < first["crps"]
    assert first["crps_parts"]["miscalibration"] >= 0
    assert compared.best == "sigma"
    assert "members" in repr(compared) and "isotonic" in compared._repr_html_()
    y = rows["y"]
    climatology = compared.content["forecasts"][4]["crps"]
    np.testing.assert_allclose(climatology, np.abs(y[:, None] - y[None, :]).mean() / 2, rtol=1e-12)


def test_reports_of_ensembles_and_quantiles(rows, tmp_path):
    page = tmp_path / "page.html"
    data = accrue.report(page, rows, observation="y", prediction="mu", sigma="sigma", members="P*", quantiles={0.1: "q10", 0.9: "q90"})
    assert page.read_text().startswith("<!")
    assert [one["name"] for one in data["forecasts"]] == ["sigma", "members", "quantiles"]
    ensemble, quantiles = data["scores"]["forecasts"][1:]
    judged = accrue.evaluate(rows, observation="y", members="P*")
    np.testing.assert_allclose(ensemble["crps"], judged["crps"], rtol=1e-12)
    assert data["forecasts"][1]["pit"] and not data["forecasts"][2]["pit"]
    assert len(quantiles["quantile_scores"]) == 2
    model = accrue.fit(rows, columns=["mu"], prediction="mu", observation="y", family="normal", bias="none", form="constant", progress=False)
    beside = model.report(page, rows, observation="y", members="P*", exceed=[0.5])
    assert [one["name"] for one in beside["forecasts"]] == ["model", "members"]
    assert beside["scores"]["forecasts"][1]["exceed"][0]["threshold"] == 0.5
    with pytest.raises(ValueError, match="member"):
        model.report(page, rows, observation="y", memebrs="P*")


def test_what_is_not_there_is_refused(rows):
    with pytest.raises(ValueError, match="there is no forecast"):
        accrue.evaluate(rows, observation="y")
    with pytest.raises(ValueError, match="no column of numbers without another role matches 'Q"):
        accrue.evaluate(rows, observation="y", members="Q*")
    with pytest.raises(ValueError, match="did you mean 'members'"):
        accrue.evaluate(rows, observation="y", member="P*")
    with pytest.raises(ValueError, match=r"members has the shape \(300,\)"):
        accrue.evaluate(observation=rows["y"], members=rows["y"])
    with pytest.raises(ValueError, match="baselines must be one of"):
        accrue.evaluate(rows, observation="y", members="P*", baselines="best")


def test_gaps_among_members_are_dropped(rows):
    gaps = dict(rows, P0=np.where(np.arange(300) < 3, np.nan, rows["P0"]))
    result = accrue.evaluate(gaps, observation="y", members="P*", missing="drop")
    assert result["rows"] == 297 and result["dropped"] == 3
