#include "fields/tanh_rows.hpp"

#include <algorithm>
#include <cmath>

#include "core/lanes.hpp"
#include "core/parallel.hpp"
#include "core/tanh.hpp"

namespace accrue::fields {

namespace {

using core::broadcast;
using core::kBlockRows;
using core::kLanes;
using core::Lanes;
using core::load;
using core::store;

constexpr std::size_t kChunk = 16 * kBlockRows;  // rows a task: long enough to be worth handing out

// A packed block has a column for each input, one of ones (the bias is the weight of it), then target and weight.
std::size_t block_size(std::size_t inputs) {
    return (inputs + 3) * kBlockRows;
}

// Memory for one block, a thread; aligned, so that sums do not depend on where it happens to lie.
struct Workspace {
    core::Buffer<double> block;
    core::Buffer<double> hidden;
    core::Buffer<double> output;
    core::Buffer<core::LaneSum> sums;

    static Workspace& own() {
        thread_local Workspace workspace;
        workspace.hidden.reserve(kUnits * kBlockRows);
        workspace.output.reserve(kBlockRows);
        return workspace;
    }
};

// hidden[u] = tanh of unit u, output = the network's, for a packed block.
void forward(const double* parameters, std::size_t columns, const double* block, double* hidden, double* output) {
    core::product(parameters, nullptr, kUnits, columns, block, hidden, [](std::size_t, Lanes sum) { return sum; });
    const double* weights = parameters + kUnits * columns;
    std::fill_n(output, kBlockRows, weights[kUnits]);
    for (std::size_t u = 0; u < kUnits; ++u)
        for (std::size_t v = 0; v < kBlockRows; v += kLanes) {
            double* at = hidden + u * kBlockRows + v;
            const Lanes value = core::vector_tanh(load(at));
            store(at, value);
            store(output + v, load(output + v) + broadcast(weights[u]) * value);
        }
}

// Adds a block's part of the gradient, in lanes; `output` holds the derivative of the error by the output, `hidden` is
// overwritten.
void backward(const double* parameters, std::size_t columns, const double* block, double* hidden, const double* output,
              core::LaneSum* sums) {
    const double* weights = parameters + kUnits * columns;
    core::LaneSum* weight_sums = sums + kUnits * columns;
    for (std::size_t v = 0; v < kBlockRows; v += kLanes) add_to(weight_sums[kUnits], load(output + v));
    // Some units at a time, which stay in the nearest cache.
    for (std::size_t first = 0; first < kUnits; first += core::kTileUnits) {
        for (std::size_t u = first; u < first + core::kTileUnits; ++u) {
            Lanes sum{};
            for (std::size_t v = 0; v < kBlockRows; v += kLanes) {
                double* at = hidden + u * kBlockRows + v;
                const Lanes value = load(at);
                const Lanes slope = load(output + v);
                sum += slope * value;
                store(at, slope * broadcast(weights[u]) * (1.0 - value * value));
            }
            add_to(weight_sums[u], sum);
        }
        core::add_outer(hidden + first * kBlockRows, core::kTileUnits, block, columns, sums + first * columns);
    }
}

// Calls work(first_row, rows) with each block of the rows packed, filled up with zeros.
template <typename Work>
void for_packed_blocks(Workspace& own, const Columns& x, std::size_t begin, std::size_t end, Work&& work) {
    own.block.reserve(block_size(x.inputs));
    double* ones = own.block.data() + x.inputs * kBlockRows;
    std::fill_n(ones, kBlockRows, 1.0);
    for (std::size_t at = begin; at < end; at += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, end - at);
        for (std::size_t k = 0; k < x.inputs; ++k) {
            double* column = own.block.data() + k * kBlockRows;
            std::copy_n(x.data + k * x.stride + at, rows, column);
            std::fill(column + rows, column + kBlockRows, 0.0);
        }
        work(at, rows);
    }
}

}  // namespace

void network_output(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                    double* out) {
    Workspace& own = Workspace::own();
    for_packed_blocks(own, x, begin, end, [&](std::size_t at, std::size_t rows) {
        forward(parameters.data(), x.inputs + 1, own.block.data(), own.hidden.data(), own.output.data());
        std::copy_n(own.output.data(), rows, out + (at - begin));
    });
}

void add_network_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                          const double* slopes, double* gradient) {
    Workspace& own = Workspace::own();
    own.sums.reserve(parameters.size());
    std::fill_n(own.sums.data(), parameters.size(), core::LaneSum{});
    for_packed_blocks(own, x, begin, end, [&](std::size_t at, std::size_t rows) {
        forward(parameters.data(), x.inputs + 1, own.block.data(), own.hidden.data(), own.output.data());
        std::copy_n(slopes + (at - begin), rows, own.output.data());
        std::fill(own.output.data() + rows, own.output.data() + kBlockRows, 0.0);
        backward(parameters.data(), x.inputs + 1, own.block.data(), own.hidden.data(), own.output.data(),
                 own.sums.data());
    });
    for (std::size_t p = 0; p < parameters.size(); ++p) gradient[p] += core::sum_of_lanes(own.sums[p].lanes);
}

SquaredError::SquaredError(const Targets& targets, std::span<const std::size_t> rows)
    : rows_(rows.size()), inputs_(targets.x.inputs) {
    const std::size_t blocks = core::block_count(rows_, kBlockRows);
    blocks_.reserve(blocks * block_size(inputs_));
    partial_.resize(core::block_count(rows_, kChunk) * (1 + network_parameters(inputs_)));
    double total = 0;
    for (const std::size_t row : rows) total += targets.weight(row);
    // What fills up the last block weighs nothing.
    std::fill_n(blocks_.data(), blocks * block_size(inputs_), 0.0);
    for (std::size_t i = 0; i < rows_; ++i) {
        double* at = blocks_.data() + i / kBlockRows * block_size(inputs_) + i % kBlockRows;
        const std::size_t row = rows[i];
        for (std::size_t k = 0; k < inputs_; ++k) at[k * kBlockRows] = targets.x.data[k * targets.x.stride + row];
        at[inputs_ * kBlockRows] = 1;
        at[(inputs_ + 1) * kBlockRows] = targets.y[row];
        at[(inputs_ + 2) * kBlockRows] = targets.weight(row) / total;
    }
}

bool SquaredError::operator()(std::span<const double> parameters, double& value, std::span<double> gradient) {
    const std::size_t columns = inputs_ + 1;
    const std::size_t size = parameters.size();
    const std::size_t stride = 1 + size;
    const auto chunk_sums = [&](std::size_t chunk, std::size_t begin, std::size_t end) {
        Workspace& own = Workspace::own();
        own.sums.reserve(size);
        if (!gradient.empty()) std::fill_n(own.sums.data(), size, core::LaneSum{});
        Lanes error{};
        for (std::size_t b = begin / kBlockRows; b * kBlockRows < end; ++b) {
            const double* block = blocks_.data() + b * block_size(inputs_);
            const double* target = block + columns * kBlockRows;
            const double* weight = target + kBlockRows;
            double* output = own.output.data();
            forward(parameters.data(), columns, block, own.hidden.data(), output);
            for (std::size_t v = 0; v < kBlockRows; v += kLanes) {
                const Lanes difference = load(output + v) - load(target + v);
                const Lanes weighted = load(weight + v) * difference;
                error += weighted * difference;
                store(output + v, 2.0 * weighted);
            }
            if (!gradient.empty())
                backward(parameters.data(), columns, block, own.hidden.data(), output, own.sums.data());
        }
        double* out = &partial_[chunk * stride];
        out[0] = core::sum_of_lanes(error);
        if (gradient.empty()) return;
        for (std::size_t p = 0; p < size; ++p) out[1 + p] = core::sum_of_lanes(own.sums[p].lanes);
    };
    // Isolated: a thread that waits here must not begin another task, whose memory would come on top.
    core::isolate([&] { core::for_blocks(rows_, kChunk, chunk_sums); });

    value = 0;
    std::fill(gradient.begin(), gradient.end(), 0.0);
    for (std::size_t at = 0; at < partial_.size(); at += stride) {
        value += partial_[at];
        for (std::size_t p = 0; p < gradient.size(); ++p) gradient[p] += partial_[at + 1 + p];
    }
    return std::isfinite(value);
}

}  // namespace accrue::fields
