// Rows of one of several families, as one family: what a replay has whose model was fitted again, with a map of its own
// each time.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "accrue/family.hpp"

namespace accrue::adapting {

// The families have the same parameters. After them comes the number of the row's family in the list.
class Several final : public Family {
public:
    explicit Several(std::vector<SharedFamily> list) : list_(std::move(list)) {}

    std::string_view name() const override { return first().name(); }
    std::string_view help() const override { return first().help(); }
    std::vector<Parameter> further() const override { return first().further(); }
    std::vector<Given> given() const override {
        std::vector<Given> all = first().given();
        all.push_back(Given::uniform);  // a number of the row's own
        return all;
    }
    const Family& unbounded() const override { return first().unbounded(); }
    Limits limits() const override { return first().limits(); }
    double pdf(double u, Further f) const override { return of(f).pdf(u, own(f)); }
    double log_pdf(double u, Further f) const override { return of(f).log_pdf(u, own(f)); }
    double cdf(double u, Further f) const override { return of(f).cdf(u, own(f)); }
    double survival(double u, Further f) const override { return of(f).survival(u, own(f)); }
    double quantile(double p, Further f) const override { return of(f).quantile(p, own(f)); }
    double crps(double u, Further f) const override { return of(f).crps(u, own(f)); }
    double squares_below(double u, Further f) const override { return of(f).squares_below(u, own(f)); }
    double mean(Further f) const override { return of(f).mean(own(f)); }
    double sd(Further f) const override { return of(f).sd(own(f)); }
    bool has_density() const override {
        return std::all_of(list_.begin(), list_.end(), [](const auto& one) { return one->has_density(); });
    }
    bool recalibrated() const override {
        return std::any_of(list_.begin(), list_.end(), [](const auto& one) { return one->recalibrated(); });
    }
    double normal_score(double u, Further f) const override { return of(f).normal_score(u, own(f)); }
    double upper_normal_score(double u, Further f) const override { return of(f).upper_normal_score(u, own(f)); }
    double of_normal_score(double z, Further f) const override { return of(f).of_normal_score(z, own(f)); }
    void of_normal_scores(std::span<const double> z, Further f, double* u, double* slopes) const override {
        of(f).of_normal_scores(z, own(f), u, slopes);
    }
    std::vector<double> jumps(Further f) const override { return of(f).jumps(own(f)); }
    double unit(double z, Further f) const override { return of(f).unit(z, own(f)); }
    double normal_score_slope(double u, Further f) const override { return of(f).normal_score_slope(u, own(f)); }
    double log_pdf_slope(double u, Further f) const override { return of(f).log_pdf_slope(u, own(f)); }
    std::pair<double, double> interval(double level, Further f) const override { return of(f).interval(level, own(f)); }

private:
    const Family& first() const { return *list_.front(); }
    const Family& of(Further f) const { return *list_[static_cast<std::size_t>(f.back())]; }
    static Further own(Further f) { return f.first(f.size() - 1); }

    std::vector<SharedFamily> list_;
};

}  // namespace accrue::adapting
