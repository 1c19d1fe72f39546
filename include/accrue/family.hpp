// The contract of a family of distributions, and the families that there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace accrue {

// Values that y cannot pass; infinite where there are none.
struct Limits {
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    bool has_lower() const { return lower > -std::numeric_limits<double>::infinity(); }
    bool has_upper() const { return upper < std::numeric_limits<double>::infinity(); }
    bool any() const { return has_lower() || has_upper(); }
    // What is beyond a limit, or on it but for rounding in numbers of the size of sigma, is on it.
    double hold(double y, double sigma) const {
        constexpr double kRounding = 1e-9;
        const double slack = kRounding * sigma;
        return y < lower + slack ? lower : y > upper - slack ? upper : y;
    }
};

// y = location + scale*u, and u has a distribution of the family: what a family knows is a function of u. Parameters
// beyond location and scale, of which most families have none, come with each call, in the order of further().
// Thread safe.
class Family {
public:
    using Further = std::span<const double>;

    virtual ~Family() = default;

    virtual std::string_view name() const = 0;
    virtual std::string_view help() const = 0;  // what it is, in half a line

    // A parameter beyond location and scale. A field gives a number; within its bounds that is the parameter.
    struct Parameter {
        std::string name;
        double low, high;
        double start;  // where training begins
    };
    virtual std::vector<Parameter> further() const { return {}; }

    // Values that a row is given and nobody learns follow its further parameters in every call: a bound of y in units
    // of the row, (bound - location)/scale, a number between 0 and 1 of the row's own, the number of its map
    // (accrue/group_maps.hpp), or how its normal scores have moved (accrue/adapted.hpp).
    enum class Given { bound, uniform, map, shift, scale };
    virtual std::vector<Given> given() const { return {}; }

    virtual double pdf(double u, Further further) const = 0;
    virtual double log_pdf(double u, Further further) const;  // also where the density underflows, if it can
    virtual double cdf(double u, Further further) const = 0;
    virtual double survival(double u, Further further) const = 0;  // 1 - cdf, with its digits where that is tiny
    virtual double quantile(double probability, Further further) const = 0;  // 0 < probability < 1
    // Integral over x of (cdf(x) - [x >= u])^2; times the scale it is the crps of an observation.
    virtual double crps(double u, Further further) const = 0;
    virtual double squares_below(double u, Further further) const;  // integral up to u of cdf^2
    virtual double mean(Further further) const = 0;                 // of u
    virtual double sd(Further further) const = 0;
    virtual bool symmetric() const { return false; }  // about the location
    // Tails that fall as a power: a map that stretches their normal scores leaves no moments.
    virtual bool power_tails() const { return false; }
    virtual bool has_density() const { return true; }          // without jumps, so that an nlpd can be compared
    virtual bool recalibrated() const { return false; }        // a map of its own between it and another family
    virtual bool is_normal() const { return false; }           // u is its own normal score
    virtual const Family& unbounded() const { return *this; }  // the family that bounds are around
    virtual Limits limits() const { return {}; }               // of y

    // The z of a standard normal distribution that has the same probability below it, and the u of such a z.
    virtual double normal_score(double u, Further further) const;
    virtual double of_normal_score(double z, Further further) const;
    // Where u is an atom normal_score is anywhere in it; this is its upper end, where the cdf is that of u.
    virtual double upper_normal_score(double u, Further further) const { return normal_score(u, further); }
    // Of many normal scores: u, and du/dz; and the normal scores at which du/dz jumps or bends: an atom ends there.
    virtual void of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const;
    virtual std::vector<double> jumps(Further /*further*/) const { return {}; }
    // A coordinate that rises with normal scores, in which u between two jumps is as smooth as Phi is in its own.
    virtual double unit(double z, Further further) const;

    // For training: d normal_score/du, and d log pdf/du.
    virtual double normal_score_slope(double u, Further further) const;
    virtual double log_pdf_slope(double u, Further further) const = 0;
    // Derivatives by each further parameter and each value that is given; only families that have some give them. An
    // empty span is not wanted.
    struct FurtherSlopes {
        std::span<double> normal_score, crps, log_pdf;
    };
    virtual void further_slopes(double /*u*/, Further /*further*/, const FurtherSlopes& /*slopes*/) const {}

    // For training on many rows: each row's score, and its derivatives where slopes is not null. In columns: errors
    // y - location, scales, parameter k of row i in further[k*stride + i], and so what rows are given: of a bound,
    // bound - location. A family that has vector code overrides these; without, they call the functions of u above.
    struct Rows {
        std::size_t count;
        const double* errors;
        const double* scales;
        const double* further;
        std::size_t stride;
        const double* given = nullptr;
    };
    struct RowSlopes {
        double* location;  // may be null
        double* log_scale;
        double* further;
        std::size_t stride;
    };
    // A rough crps is right to 1e-3 of a row's standard deviation.
    enum class Precision { exact, rough };
    virtual void crps_rows(const Rows& rows, double* values, const RowSlopes* slopes, Precision precision) const;
    virtual void nlpd_rows(const Rows& rows, double* values, const RowSlopes* slopes) const;
    virtual void normal_score_rows(const Rows& rows, double* values, const RowSlopes* slopes) const;

    // A central interval of this probability.
    virtual std::pair<double, double> interval(double level, Further further) const;

    // cdf of many u, and scores of rows without further parameters, from errors y - location: faster where a
    // family has vector code.
    virtual void cdf_block(std::size_t rows, double* values) const;  // of u, which are overwritten
    virtual void crps_block(std::size_t rows, const double* errors, const double* scales, double* values) const;
    virtual void nlpd_block(std::size_t rows, const double* errors, const double* scales, double* values) const;
};

using SharedFamily = std::shared_ptr<const Family>;

// N(location, scale^2).
const SharedFamily& normal_family();

// By name. Throws InputError for an unknown one, naming those that there are.
const SharedFamily& family(std::string_view name);
std::vector<std::string> family_names();
// One more for this process, before anything is fitted. Throws InputError when there is one of this name.
void register_family(SharedFamily family);

// What has to be known of every row beyond its mean and standard deviation: the mean and the standard deviation of its
// u, its further parameters, and what it is given, in this order. 0 where the family has neither of the latter: all
// rows are alike then.
std::size_t parameters_per_row(const Family& family);

// The families that rows have: one for all, or a code into the list for every row; all with as many parameters.
struct Families {
    std::vector<SharedFamily> list;
    std::span<const std::uint32_t> codes = {};
    std::span<const double> parameters = {};  // row after row
};

// A family in units of its own standard deviation about its own mean: functions of z = (y - mean)/sd, where
// mean = location + m*scale and sd = d*scale. A forecast is then mean + sd*z whatever its family.
class Standardised {
public:
    // Throws InputError unless there is a value for every further parameter.
    Standardised(SharedFamily family, std::vector<double> further = {});  // NOLINT: a family is its standardised self
    // Of a row, from its parameters. The family must outlive it.
    Standardised(const Family& family, std::span<const double> parameters);

    const Family& family() const { return *family_; }
    const SharedFamily& shared() const { return family_; }
    double u_mean() const { return mean_; }  // m
    double u_sd() const { return sd_; }      // d
    // How far the mean of a forecast of this standard deviation lies above its location.
    double mean_shift(double sigma) const { return mean_ / sd_ * sigma; }

    double pdf(double z) const { return sd_ * family_->pdf(u(z), further_); }
    double cdf(double z) const { return family_->cdf(u(z), further_); }
    double survival(double z) const { return family_->survival(u(z), further_); }
    double quantile(double probability) const;               // throws InputError unless 0 < probability < 1
    std::pair<double, double> interval(double level) const;  // throws InputError unless 0 < level < 1
    double crps(double z) const { return family_->crps(u(z), further_) / sd_; }
    double squares_below(double z) const { return family_->squares_below(u(z), further_) / sd_; }
    double normal_score(double z) const { return family_->normal_score(u(z), further_); }
    double of_normal_score(double score) const { return (family_->of_normal_score(score, further_) - mean_) / sd_; }

    void cdf_block(std::size_t rows, double* values) const;  // of z, which are overwritten
    // Scores from errors y - mean and standard deviations.
    void crps_block(std::size_t rows, const double* errors, const double* sigmas, double* values) const;
    void nlpd_block(std::size_t rows, const double* errors, const double* sigmas, double* values) const;

private:
    double u(double z) const { return mean_ + sd_ * z; }
    template <typename Score>
    void for_located(std::size_t rows, const double* errors, const double* sigmas, Score&& score) const;

    SharedFamily family_;
    std::vector<double> further_;
    double mean_;
    double sd_;
};

// Families of rows, row by row.
class RowFamilies {
public:
    // Throws InputError where there is no family, a code has none, or there are not as many parameters as rows need.
    RowFamilies(const Families& families, std::size_t rows);
    // Of some of the rows, in this order.
    RowFamilies(const RowFamilies& all, std::span<const std::uint32_t> rows);
    RowFamilies(const RowFamilies&) = delete;
    RowFamilies& operator=(const RowFamilies&) = delete;

    std::span<const Standardised> alike() const { return alike_; }  // in the order of the list; none where rows differ
    const Family& family(std::size_t code) const { return *families_.list[code]; }
    std::size_t count() const { return families_.list.size(); }
    std::size_t code(std::size_t row) const { return families_.codes.empty() ? 0 : families_.codes[row]; }
    std::size_t width() const { return width_; }  // parameters per row
    std::span<const double> parameters(std::size_t row) const {
        return families_.parameters.subspan(row * width_, width_);
    }
    // Calls use(the row's family).
    template <typename Use>
    auto with(std::size_t row, Use&& use) const {
        if (width_ == 0) return use(alike_[code(row)]);
        const Standardised own(family(code(row)), parameters(row));
        return use(own);
    }

private:
    Families families_;
    std::size_t width_;
    std::vector<Standardised> alike_;
    std::vector<std::uint32_t> own_codes_;  // of some of the rows
    std::vector<double> own_parameters_;
};

}  // namespace accrue
