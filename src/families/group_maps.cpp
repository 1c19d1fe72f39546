#include "accrue/group_maps.hpp"

#include "core/error.hpp"

namespace accrue {

GroupMaps::GroupMaps(std::shared_ptr<const Recalibrated> common, std::vector<std::shared_ptr<const Recalibrated>> maps)
    : common_(std::move(common)), maps_(std::move(maps)) {
    core::require(!maps_.empty(), "recalibrations of groups need a map");
    for (const auto& map : maps_)
        core::require(map->inner() == common_->inner() && map->kind() == common_->kind(),
                      "the maps of groups must be of one kind, around one family");
}

const Recalibrated& GroupMaps::map_of(Further further) const {
    const double number = further.back();
    const bool own = number >= 0 && number < static_cast<double>(maps_.size());
    return own ? *maps_[static_cast<std::size_t>(number)] : *common_;
}

namespace {

Family::Further inner_of(Family::Further further) {
    return further.first(further.size() - 1);
}

}  // namespace

std::vector<Family::Given> GroupMaps::given() const {
    std::vector<Given> all = common_->given();
    all.push_back(Given::map);
    return all;
}

double GroupMaps::pdf(double u, Further further) const {
    return map_of(further).pdf(u, inner_of(further));
}

double GroupMaps::log_pdf(double u, Further further) const {
    return map_of(further).log_pdf(u, inner_of(further));
}

double GroupMaps::cdf(double u, Further further) const {
    return map_of(further).cdf(u, inner_of(further));
}

double GroupMaps::survival(double u, Further further) const {
    return map_of(further).survival(u, inner_of(further));
}

double GroupMaps::quantile(double probability, Further further) const {
    return map_of(further).quantile(probability, inner_of(further));
}

double GroupMaps::crps(double u, Further further) const {
    return map_of(further).crps(u, inner_of(further));
}

double GroupMaps::squares_below(double u, Further further) const {
    return map_of(further).squares_below(u, inner_of(further));
}

double GroupMaps::mean(Further further) const {
    return map_of(further).mean(inner_of(further));
}

double GroupMaps::sd(Further further) const {
    return map_of(further).sd(inner_of(further));
}

double GroupMaps::normal_score(double u, Further further) const {
    return map_of(further).normal_score(u, inner_of(further));
}

double GroupMaps::of_normal_score(double score, Further further) const {
    return map_of(further).of_normal_score(score, inner_of(further));
}

double GroupMaps::upper_normal_score(double u, Further further) const {
    return map_of(further).upper_normal_score(u, inner_of(further));
}

void GroupMaps::of_normal_scores(std::span<const double> z, Further further, double* u, double* slopes) const {
    map_of(further).of_normal_scores(z, inner_of(further), u, slopes);
}

std::vector<double> GroupMaps::jumps(Further further) const {
    return map_of(further).jumps(inner_of(further));
}

double GroupMaps::unit(double z, Further further) const {
    return map_of(further).unit(z, inner_of(further));
}

double GroupMaps::normal_score_slope(double u, Further further) const {
    return map_of(further).normal_score_slope(u, inner_of(further));
}

double GroupMaps::log_pdf_slope(double u, Further further) const {
    return map_of(further).log_pdf_slope(u, inner_of(further));
}

std::pair<double, double> GroupMaps::interval(double level, Further further) const {
    return map_of(further).interval(level, inner_of(further));
}

const Recalibrated* common_map(const Family& family) {
    const auto* groups = dynamic_cast<const GroupMaps*>(&family);
    return groups != nullptr ? groups->common().get() : dynamic_cast<const Recalibrated*>(&family);
}

}  // namespace accrue
