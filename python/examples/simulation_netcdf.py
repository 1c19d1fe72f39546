"""An archive of a simulation in NetCDF: learn error bars with xarray, and add them to new forecasts lazily."""

# %% Forecasts of a chaotic system and what was then observed. Your archive is a file like this one.
import tempfile
from pathlib import Path

import numpy as np
import xarray as xr

import accrue

folder = Path(tempfile.mkdtemp())
columns = accrue.generate("lorenz", 8000, seed=1)
archive = xr.Dataset({name: ("row", values) for name, values in columns.items()})
archive["prediction"].attrs = {"units": "m s-1", "long_name": "wind"}
archive.isel(row=slice(0, 6000)).to_netcdf(folder / "early.nc")
archive.isel(row=slice(6000, None)).to_netcdf(folder / "late.nc")

# %% Learn from the early part. Folds never split a start of the simulation: its rows are not independent.
inputs = ["lead_time", "start_left1", "start", "start_right1"]
with xr.open_dataset(folder / "early.nc") as early:
    model = accrue.fit(
        early,
        columns=inputs,
        prediction="prediction",
        observation="observation",
        groups="start_time",
        bias="linear",
        progress=False,
    )
print("early:", model.summary)

# %% The late part, in chunks: nothing is read or computed before it is written.
late = xr.open_dataset(folder / "late.nc", chunks={"row": 500})
error_bars = model.predict(late, quantiles=[0.05, 0.95])
print("still lazy:", error_bars["sigma"].chunks is not None)
error_bars.to_netcdf(folder / "error_bars.nc")

# %% How often did the 90% interval hold what came?
y = late["observation"]
inside = (error_bars["quantiles"].sel(quantile=0.05) < y) & (y < error_bars["quantiles"].sel(quantile=0.95))
print(f"late: the 90% interval covers {float(inside.mean()):.1%}; sigma is in {error_bars['sigma'].attrs['units']}")
print(f"sigma grows with the lead time: {np.corrcoef(late['lead_time'], error_bars['sigma'])[0, 1]:.2f}")
late.close()
