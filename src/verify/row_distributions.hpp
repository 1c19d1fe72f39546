// Forecast distributions of rows, whatever they are made of: what scores at thresholds and levels ask of them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "accrue/family.hpp"

namespace accrue::verification {

// Thread safe.
class RowDistributions {
public:
    virtual ~RowDistributions() = default;
    virtual std::size_t rows() const = 0;
    // The probability of at most y, for rows [begin, end).
    virtual void cdf(double y, std::size_t begin, std::size_t end, double* values) const = 0;
    virtual double quantile(double probability, std::size_t row) const = 0;
    // An observation of this distribution, from a number that is uniform between 0 and 1.
    virtual double draw(double uniform, std::size_t row) const { return quantile(uniform, row); }
    virtual double crps(double y, std::size_t row) const = 0;
    // The integral over x >= threshold of (cdf(x) - [x >= y])^2.
    virtual double crps_above(double threshold, double y, std::size_t row) const = 0;
    // Where cdfs of rows jump or rise, if these are few enough to look at each.
    virtual std::vector<double> breakpoints() const { return {}; }
};

// Of families: mean + sigma*z. No means: they are 0, and what is observed are errors.
class FamilyRows : public RowDistributions {
public:
    FamilyRows(std::span<const double> means, std::span<const double> sigmas, const Families& families);
    std::size_t rows() const override { return sigmas_.size(); }
    void cdf(double y, std::size_t begin, std::size_t end, double* values) const override;
    double quantile(double probability, std::size_t row) const override;
    double crps(double y, std::size_t row) const override;
    double crps_above(double threshold, double y, std::size_t row) const override;
    std::vector<double> breakpoints() const override;

private:
    double mean(std::size_t row) const { return means_.empty() ? 0 : means_[row]; }

    std::span<const double> means_, sigmas_;
    RowFamilies families_;
};

using MemberColumns = std::span<const std::span<const double>>;  // each has a value for every row

// The members of a row, in ascending order.
void sorted_members(MemberColumns members, std::size_t row, std::vector<double>& sorted);

// The value that an observation lies below with this probability where its rank among the members is uniform: at the
// rank probability*(M + 1), between two members in proportion. Beyond the members it is the last of them.
double ensemble_quantile(std::span<const double> sorted, double probability);

// The scores of a row, from the gaps between its members: no term is negative, and nothing cancels. The plain one is
// that of the distribution in which every member is as likely; the fair one has no penalty for few members, and is NaN
// for one.
struct EnsembleCrps {
    double plain, fair;
};
EnsembleCrps ensemble_crps(std::span<const double> sorted, double y);

// Of ensembles: every member is as likely.
class MemberRows : public RowDistributions {
public:
    explicit MemberRows(MemberColumns members) : members_(members.begin(), members.end()) {}
    std::size_t rows() const override { return members_.front().size(); }
    void cdf(double y, std::size_t begin, std::size_t end, double* values) const override;
    double quantile(double probability, std::size_t row) const override;
    double draw(double uniform, std::size_t row) const override;
    double crps(double y, std::size_t row) const override;
    double crps_above(double threshold, double y, std::size_t row) const override;
    std::vector<double> breakpoints() const override;

private:
    std::vector<std::span<const double>> members_;
};

}  // namespace accrue::verification
