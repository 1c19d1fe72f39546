import pytest

import accrue


@pytest.fixture(scope="session")
def archive():
    return accrue.generate("G", 1000, seed=1)


@pytest.fixture(scope="session")
def model(archive):
    return accrue.fit(archive, columns=["x"], prediction="f", observation="y", progress=False)
