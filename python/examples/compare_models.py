"""Which error bars are better? Models and a plain column, compared on the same later rows of an archive in Parquet."""

# %% An archive in Parquet (pip install pandas pyarrow). Anything that pandas or polars read will do.
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import accrue

folder = Path(tempfile.mkdtemp())
pd.DataFrame(accrue.generate("lorenz", 10_000, seed=1)).to_parquet(folder / "archive.parquet")
archive = pd.read_parquet(folder / "archive.parquet")
early, late = archive[:8000], archive[8000:].copy()

# %% What many people use: the root mean square error of each lead time.
early_errors = early["observation"] - early["prediction"]
rmse = np.sqrt((early_errors**2).groupby(early["lead_time"]).mean())
late["rmse_of_lead"] = rmse[late["lead_time"]].to_numpy()

# %% Two models: sigma by lead time alone, and by the state of the system at the start too.
roles = dict(prediction="prediction", observation="observation", groups="start_time", progress=False)
simple = accrue.fit(early, columns=["lead_time"], **roles)
full = accrue.fit(early, columns=["lead_time", "start_left1", "start", "start_right1"], bias="linear", **roles)

# %% Scores of all three on the late rows.
compare = {"lead time alone": simple, "rmse of lead": "rmse_of_lead"}
scores = full.evaluate(late, observation="observation", name="full", compare=compare)
for one in scores["forecasts"]:
    print(f"{one['name']:>16}: CRPS {one['crps']:.4f}, calibration error {one['calibration_error_percent']:.1f}%")

# %% The same in pictures, on one page, with intervals of the differences.
data = full.report(
    folder / "report.html", late, observation="observation", groups="start_time", name="full", compare=compare
)
for difference in data["scores"]["comparison"]:
    crps = difference["crps"]
    print(
        f"{difference['second']} - {difference['first']}: {crps['difference']:+.4f} ({crps['low']:+.4f} to {crps['high']:+.4f})"
    )
print("page written:", (folder / "report.html").stat().st_size > 100_000)
