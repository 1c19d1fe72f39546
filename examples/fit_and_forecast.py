"""The example of fit_and_forecast.cpp in Python."""

import accrue

# Your columns go here. These are 1,000 rows of the data set G: input x, prediction f, true sigma, observation y.
archive = accrue.generate("G", 1000, seed=1)
model = accrue.fit(archive, columns=["x"], prediction="f", observation="y")
print(model.summary)
model.save("model.json")

# Later, in another program: one new row, x = 0.9, where the model predicts -1.2.
model = accrue.Model.load("model.json")
forecast = model.predict({"x": [0.9]}, prediction=[-1.2])
low, high = forecast.interval(0.9)
print(f"mean {forecast.mean[0]:.2f}, sigma {forecast.sigma[0]:.2f}")
print(f"90% interval {low[0]:.2f} to {high[0]:.2f}")
print(f"95% quantile {forecast.quantile(0.95)[0]:.2f}, probability of more than 0: {1 - forecast.cdf(0)[0]:.3f}")
print("possible outcomes:", forecast.sample(3, seed=7).round(2))
