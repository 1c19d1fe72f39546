// A network whose inputs are numbers and categories.
#pragma once

#include "fields/network.hpp"

namespace accrue::fields {

// Every level of a category has kWidth numbers of its own, which are learned and enter the first layer in its place:
// tens of thousands of levels cost a row no more than a few inputs do. Those of level 0, the common one, are zero, and
// a penalty draws the others towards it as so many rows without an effect would.
class Embedded final : public Field {
public:
    static constexpr std::size_t kWidth = 3;
    static constexpr double kRowsOfPenalty = 1;

    // Categories come first; `network` takes the numbers and then kWidth inputs for each category.
    Embedded(std::vector<std::size_t> levels, std::size_t numbers, Network network);

    std::string_view name() const override { return network_.name(); }
    std::size_t outputs() const override { return network_.outputs(); }
    std::size_t parameters() const override { return embedding_size_ + network_.parameters(); }
    std::vector<double> start(core::Random& random, std::span<const double> levels) const override;
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override;
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override;
    double penalty(std::span<const double> parameters, std::span<double> gradient) const override;
    bool raise(std::span<double> parameters, std::size_t output, double amount) const override {
        return network_.raise(parameters.subspan(embedding_size_), output, amount);
    }
    std::shared_ptr<const Field> rough() const override;

private:
    template <typename Work>
    void for_blocks(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                    Work&& work) const;

    std::vector<std::size_t> levels_;  // of every category
    std::size_t numbers_;
    Network network_;
    std::size_t embedding_size_ = 0;  // parameters before the network's: level by level, without the common ones
};

}  // namespace accrue::fields
