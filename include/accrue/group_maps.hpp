// Recalibrations of which every row has the one of its group: a family around another.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "accrue/recalibrated.hpp"

namespace accrue {

// [RECAL] with a map for each of several groups, and one for all other rows. Calls take the number of the row's map,
// the first being 0, after the values of the inner family (Family::given); every number that is none of them, NaN too,
// stands for the common map.
class GroupMaps final : public Family {
public:
    static constexpr double kCommon = std::numeric_limits<double>::quiet_NaN();

    // All maps are around the same family, and of one kind. Throws InputError where they are not, and for no map.
    GroupMaps(std::shared_ptr<const Recalibrated> common, std::vector<std::shared_ptr<const Recalibrated>> maps);

    std::string_view name() const override { return common_->name(); }
    std::string_view help() const override { return common_->help(); }
    std::vector<Parameter> further() const override { return common_->further(); }
    std::vector<Given> given() const override;
    const Family& unbounded() const override { return common_->unbounded(); }
    Limits limits() const override { return common_->limits(); }
    double pdf(double u, Further further) const override;
    double log_pdf(double u, Further further) const override;
    double cdf(double u, Further further) const override;
    double survival(double u, Further further) const override;
    double quantile(double probability, Further further) const override;
    double crps(double u, Further further) const override;
    double squares_below(double u, Further further) const override;
    double mean(Further further) const override;
    double sd(Further further) const override;
    bool has_density() const override { return false; }
    bool recalibrated() const override { return true; }
    double normal_score(double u, Further further) const override;
    double of_normal_score(double score, Further further) const override;
    double upper_normal_score(double u, Further further) const override;
    void of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const override;
    std::vector<double> jumps(Further further) const override;
    double unit(double z, Further further) const override;
    double normal_score_slope(double u, Further further) const override;
    double log_pdf_slope(double u, Further further) const override;
    std::pair<double, double> interval(double level, Further further) const override;

    const std::shared_ptr<const Recalibrated>& common() const { return common_; }
    const std::vector<std::shared_ptr<const Recalibrated>>& maps() const { return maps_; }

private:
    const Recalibrated& map_of(Further further) const;

    std::shared_ptr<const Recalibrated> common_;
    std::vector<std::shared_ptr<const Recalibrated>> maps_;
};

// The recalibration that all rows of a family have, or that those without one of their own have; null where there is
// none.
const Recalibrated* common_map(const Family& family);

}  // namespace accrue
