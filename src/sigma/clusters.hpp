// [KM] one sigma for each of k regions of the inputs: those nearest to each of k centres.
#pragma once

#include "sigma/form.hpp"

namespace accrue::sigma {

// Parameters: the centres' coordinates, centre after centre, then log sigma of each.
class Clusters final : public Form {
public:
    static constexpr std::size_t kMost = 10;

    Clusters(std::size_t inputs, std::size_t count) : inputs_(inputs), count_(count) {}

    std::string_view name() const override { return "clusters"; }
    std::size_t parameters() const override { return count_ * (inputs_ + 1); }
    std::vector<double> start(core::Random& random, double log_spread) const override;
    void log_sigma(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                   double* out) const override;
    // With respect to log sigma; moving a centre changes nothing until a row changes sides.
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, double* gradient) const override;

private:
    // nearest[i - begin] is the centre nearest to row i, the first of equals.
    void nearest(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                 std::size_t* nearest) const;

    std::size_t inputs_;
    std::size_t count_;
};

// Centres of k clusters of the rows [0, rows) for which `used` is true, by Lloyd's iterations from k-means++ seeds, the
// best of some starts by squared distance; fewer where rows have fewer distinct places. Centre after centre.
std::vector<double> cluster_centres(const Columns& x, std::size_t rows, const std::vector<bool>& used, std::size_t k,
                                    core::Random& random);

}  // namespace accrue::sigma
