"""Error bars for a gradient-boosting regressor: wrap it, and every prediction becomes a distribution."""

# %% A problem whose noise depends on the inputs.
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import train_test_split

import accrue

rng = np.random.default_rng(1)
X = rng.uniform(-2, 2, (3000, 3))
y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.1 + 0.3 * (X[:, 2] + 2))
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=1)

# %% The regressor is fitted five times on four fifths of the rows, so that each row's error is an honest one.
regressor = accrue.CalibratedRegressor(HistGradientBoostingRegressor(max_iter=80, random_state=1), cv=5)
regressor.fit(X_train, y_train)
print("held-out rows of the fit:", regressor.model_.summary)

# %% Mean and standard deviation, intervals, whole distributions.
mean, sigma = regressor.predict(X_test, return_std=True)
low, high = regressor.predict_interval(X_test, 0.9)
forecast = regressor.predict_distribution(X_test)
print(f"the 90% interval covers {((low < y_test) & (y_test < high)).mean():.1%} of new rows")
print(f"probability of more than 1 for the first: {1 - forecast.cdf(1.0)[0]:.3f}")

# %% Do the error bars keep their word on rows that nobody has seen? And are they better than one number for all?
verified = accrue.verify.verify(y_test - mean, sigma)
print(verified["verdict"]["summary"])
print(f"CRPS {verified['crps']:.4f}, {verified['crps_skill']:+.1%} over a constant sigma")
