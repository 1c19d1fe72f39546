// A user's program: scores one row, then verifies a small archive, with nothing but the installed accrue.
#include <accrue/error.hpp>
#include <accrue/scores.hpp>
#include <accrue/verify.hpp>
#include <accrue/version.hpp>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

int main() {
    // A prediction of 3.2 with sigma 0.5, and 3.9 was observed.
    const accrue::ValueAndSlope row = accrue::crps(3.9 - 3.2, 0.5);
    std::printf("accrue %s: crps %.6f\n", accrue::kVersion, row.value);

    const std::vector<double> errors = {-0.9, -0.3, 0.1, 0.2, 0.6, 1.4, -1.1, 0.0};
    const std::vector<double> sigmas = {1.0, 0.5, 0.4, 0.4, 0.8, 1.2, 1.0, 0.5};
    const accrue::Verification result = accrue::verify(errors, sigmas);
    std::printf("%s\n", accrue::verdict(result).summary.c_str());
    std::printf("mean crps %.4f, calibration error %.1f%%, floor %.1f%%\n", result.crps, 100 * result.calibration_error,
                100 * result.calibration_floor);

    // z = 1.4: 0.5*(1.4*erf(1.4/sqrt 2) + sqrt(2/pi)*exp(-0.98) - 1/sqrt pi), worked out with 50 digits.
    bool good = std::fabs(row.value - 0.45457335093458702) < 1e-15;
    good = good && result.rows == errors.size() && result.crps > 0 && result.calibration_error < 1;
    good = good && accrue::to_json(result).at("rows") == errors.size();

    // An exception of the library is caught by its type across the library's border.
    try {
        accrue::verify(errors, {});
        good = false;
    } catch (const accrue::InputError& error) {
        std::printf("refused as it should be: %s\n", error.what());
    }
    std::puts(good ? "all good" : "something is wrong");
    return good ? 0 : 1;
}
