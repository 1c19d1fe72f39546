// [KM] one sigma for each of k regions of the inputs: those nearest to each of k centres.
#pragma once

#include "fields/kinds.hpp"

namespace accrue::fields {

// Parameters: the centres' coordinates, centre after centre, then log sigma of each.
class Clusters final : public Field {
public:
    static constexpr std::size_t kMax = 10;

    Clusters(std::size_t inputs, std::size_t count) : inputs_(inputs), count_(count) {}

    std::string_view name() const override { return "clusters"; }
    std::size_t parameters() const override { return count_ * (inputs_ + 1); }
    std::vector<double> start(core::Random& random, std::span<const double> levels) const override;
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    // With respect to the values; moving a centre changes nothing until a row changes sides.
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;

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

// One to ten clusters of the training rows' inputs, sigma being the root mean square error of each.
class ClustersKind final : public Kind {
public:
    std::string_view name() const override { return "clusters"; }
    std::string_view help() const override { return "one sigma for each region of the inputs"; }
    Sizes sizes() const override { return {1, Clusters::kMax, Choice::best}; }
    std::string size_name(std::size_t size) const override {
        return size == 1 ? "1 cluster" : std::to_string(size) + " clusters";
    }
    std::shared_ptr<const Field> make(std::span<const Range> ranges, std::size_t outputs,
                                      std::size_t size) const override;
    std::size_t size_of(std::size_t inputs, std::size_t parameters) const override { return parameters / (inputs + 1); }
    std::optional<Fitted> solved(const TrainingRows& rows, std::span<const Range> ranges, std::size_t size,
                                 double level, core::Random& random) const override;
};

}  // namespace accrue::fields
