// The contract of a sigma model: a parametric form of log sigma(x).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/columns.hpp"
#include "core/random.hpp"

namespace accrue::sigma {

using core::Columns;

// log sigma is kept in this range, in units of the errors' scale: exp stays far from overflow and from zero.
inline constexpr double kLowestLogSigma = -14;
inline constexpr double kHighestLogSigma = 8;

// log sigma(x; parameters) in standardised units, not yet bounded. A form holds its shape only; parameters
// come with each call, so one form serves all starts and folds. Thread safe.
class Form {
public:
    virtual ~Form() = default;

    virtual std::string_view name() const = 0;
    virtual std::size_t parameters() const = 0;

    // A random start; log_spread is the log of the errors' standard deviation over the training rows.
    virtual std::vector<double> start(core::Random& random, double log_spread) const = 0;

    // Forms may refuse parameters (a polynomial that is not positive): such a step is no step.
    virtual bool admissible(std::span<const double> /*parameters*/) const { return true; }

    // out[i - begin] = log sigma of row i, for begin <= i < end.
    virtual void log_sigma(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                           double* out) const = 0;

    // Adds to gradient[p] the sum over rows of slopes[i - begin] * d log sigma_i / d parameter p.
    virtual void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                              const double* slopes, double* gradient) const = 0;

    // The same form, computed faster and not to the last digits, for descents on many rows; null where there is none.
    virtual std::shared_ptr<const Form> rough() const { return nullptr; }
};

// The smallest and the largest value of an input over all rows of the archive, standardised.
struct Range {
    double low;
    double high;
};

// A form for inputs of these ranges, by name: "constant", "network", "polynomial" (one input only) or "clusters". The
// order, one less than the number of parameters, tells how many the latter two have; the others know. Throws InputError
// for another name or number of inputs.
std::shared_ptr<const Form> make_form(std::string_view name, std::span<const Range> ranges, std::size_t order = 0);

// The names that make_form takes, for help texts, messages and tests that run over all forms.
std::vector<std::string> form_names();

}  // namespace accrue::sigma
