#include "fields/embedded.hpp"

#include <algorithm>
#include <vector>

namespace accrue::fields {

namespace {

constexpr std::size_t kRows = 1024;
constexpr std::size_t kWidth = Embedded::kWidth;

}  // namespace

Embedded::Embedded(std::vector<std::size_t> levels, std::size_t numbers, Network network)
    : levels_(std::move(levels)), numbers_(numbers), network_(std::move(network)) {
    for (const std::size_t count : levels_) embedding_size_ += (count - 1) * kWidth;
}

std::vector<double> Embedded::start(core::Random& random, std::span<const double> levels) const {
    // All levels begin as the common one.
    std::vector<double> parameters(embedding_size_, 0.0);
    const std::vector<double> network = network_.start(random, levels);
    parameters.insert(parameters.end(), network.begin(), network.end());
    return parameters;
}

// Calls work(inputs of the network, first row, rows) for blocks of rows.
template <typename Work>
void Embedded::for_blocks(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                          Work&& work) const {
    const std::size_t inputs = numbers_ + kWidth * levels_.size();
    thread_local std::vector<double> block;
    block.resize(inputs * kRows);
    for (std::size_t at = begin; at < end; at += kRows) {
        const std::size_t rows = std::min(kRows, end - at);
        for (std::size_t k = 0; k < numbers_; ++k)
            std::copy_n(x.data + (levels_.size() + k) * x.stride + at, rows, &block[k * kRows]);
        const double* own = parameters.data();
        for (std::size_t c = 0; c < levels_.size(); ++c) {
            double* to = &block[(numbers_ + c * kWidth) * kRows];
            const double* codes = x.data + c * x.stride + at;
            for (std::size_t i = 0; i < rows; ++i) {
                const std::size_t level = level_of(codes[i], levels_[c]);
                for (std::size_t d = 0; d < kWidth; ++d)
                    to[d * kRows + i] = level == 0 ? 0 : own[(level - 1) * kWidth + d];
            }
            own += (levels_[c] - 1) * kWidth;
        }
        work(Columns{block.data(), kRows, inputs}, at, rows);
    }
}

void Embedded::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      double* out, std::size_t stride) const {
    for_blocks(parameters, x, begin, end, [&](const Columns& inputs, std::size_t at, std::size_t rows) {
        network_.values(parameters.subspan(embedding_size_), inputs, 0, rows, out + (at - begin), stride);
    });
}

void Embedded::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                            const double* slopes, std::size_t stride, double* gradient) const {
    std::vector<double> by_embedding(kWidth * levels_.size() * kRows);
    for_blocks(parameters, x, begin, end, [&](const Columns& inputs, std::size_t at, std::size_t rows) {
        network_.add_gradient(parameters.subspan(embedding_size_), inputs, 0, rows, slopes + (at - begin), stride,
                              gradient + embedding_size_, {numbers_, by_embedding.data(), kRows});
        double* own = gradient;
        for (std::size_t c = 0; c < levels_.size(); ++c) {
            const double* codes = x.data + c * x.stride + at;
            const double* from = &by_embedding[c * kWidth * kRows];
            for (std::size_t i = 0; i < rows; ++i) {
                const std::size_t level = level_of(codes[i], levels_[c]);
                if (level == 0) continue;
                for (std::size_t d = 0; d < kWidth; ++d) own[(level - 1) * kWidth + d] += from[d * kRows + i];
            }
            own += (levels_[c] - 1) * kWidth;
        }
    });
}

double Embedded::penalty(std::span<const double> parameters, std::span<double> gradient) const {
    double sum = 0;
    for (std::size_t p = 0; p < embedding_size_; ++p) sum += parameters[p] * parameters[p];
    if (!gradient.empty())
        for (std::size_t p = 0; p < embedding_size_; ++p) gradient[p] += kRowsOfPenalty * parameters[p];
    return kRowsOfPenalty * sum / 2;
}

std::shared_ptr<const Field> Embedded::rough() const {
    return std::make_shared<Embedded>(
        levels_, numbers_, Network(numbers_ + kWidth * levels_.size(), network_.outputs(), Network::Precision::single));
}

std::shared_ptr<const Field> NetworkKind::make(std::span<const Range> ranges, std::size_t outputs, std::size_t) const {
    const std::size_t categories = category_count(ranges);
    if (categories == 0) return std::make_shared<Network>(ranges.size(), outputs);
    std::vector<std::size_t> levels;
    for (const Range& range : ranges.first(categories)) levels.push_back(range.levels);
    const std::size_t numbers = ranges.size() - categories;
    return std::make_shared<Embedded>(std::move(levels), numbers, Network(numbers + kWidth * categories, outputs));
}

}  // namespace accrue::fields
