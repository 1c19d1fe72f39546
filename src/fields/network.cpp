#include "fields/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/buffer.hpp"
#include "core/lanes.hpp"

namespace accrue::fields {

namespace {

using core::add_outer;
using core::add_row_sums;
using core::add_to;
using core::broadcast;
using core::kBlockRows;
using core::kLanesOf;
using core::LanesOf;
using core::load;
using core::product;
using core::store;
using core::sum_of_lanes;

constexpr std::size_t kFirst = Network::kFirst;
constexpr std::size_t kSecond = Network::kSecond;

// The parameters in their order: first-layer weights (a row of inputs for each unit) and biases, second-layer weights
// and biases, output weights and biases.
template <typename T>
struct Layers {
    T* first_weights;
    T* first_biases;
    T* second_weights;
    T* second_biases;
    T* output_weights;
    T* output_biases;

    Layers(T* parameters, std::size_t inputs, std::size_t outputs)
        : first_weights(parameters),
          first_biases(first_weights + kFirst * inputs),
          second_weights(first_biases + kFirst),
          second_biases(second_weights + kFirst * kSecond),
          output_weights(second_biases + kSecond),
          output_biases(output_weights + outputs * kSecond) {}
};

// One block's values of every unit and the parameters, in the precision of the passes; reused from block to block and
// call to call. Aligned, so that sums do not depend on where the memory happens to lie.
template <typename T>
struct Block {
    core::Buffer<T> memory;
    std::vector<T> parameters;
    T* inputs;
    T* first;
    T* second;
    T* second_slopes;
    T* first_slopes;
    T* slopes;

    void prepare(std::size_t input_count, std::size_t output_count, std::span<const double> values) {
        parameters.resize(values.size());
        for (std::size_t p = 0; p < values.size(); ++p) parameters[p] = static_cast<T>(values[p]);
        const std::size_t columns = input_count + 2 * kFirst + 2 * kSecond + output_count;
        memory.reserve(columns * kBlockRows);
        inputs = memory.data();
        first = inputs + input_count * kBlockRows;
        second = first + kFirst * kBlockRows;
        second_slopes = second + kSecond * kBlockRows;
        first_slopes = second_slopes + kSecond * kBlockRows;
        slopes = first_slopes + kFirst * kBlockRows;
    }
};

template <typename T>
Block<T>& own_block(std::size_t inputs, std::size_t outputs, std::span<const double> parameters) {
    thread_local Block<T> block;
    block.prepare(inputs, outputs, parameters);
    return block;
}

// Copies `rows` values and fills the rest of the block with zeros.
template <typename T>
void fill(T* block, const double* from, std::size_t rows) {
    for (std::size_t i = 0; i < rows; ++i) block[i] = static_cast<T>(from[i]);
    std::fill(block + rows, block + kBlockRows, T{});
}

template <typename T>
void forward(const Layers<const T>& layers, const Columns& x, std::size_t begin, std::size_t rows, Block<T>& block) {
    using Vector = typename LanesOf<T>::Type;
    for (std::size_t k = 0; k < x.inputs; ++k) fill(block.inputs + k * kBlockRows, x.data + k * x.stride + begin, rows);
    product(layers.first_weights, layers.first_biases, kFirst, x.inputs, block.inputs, block.first,
            [](std::size_t, Vector sum) { return sum > 0 ? sum : Vector{}; });
    product(layers.second_weights, layers.second_biases, kSecond, kFirst, block.first, block.second,
            [](std::size_t, Vector sum) { return sum; });
}

template <typename Vector>
Vector clip(Vector value) {
    const Vector one = Vector{} + 1;
    value = value < one ? value : one;
    return value > -one ? value : -one;
}

template <typename T>
void values_of(std::size_t inputs, std::size_t outputs, std::span<const double> parameters, const Columns& x,
               std::size_t begin, std::size_t end, double* out, std::size_t stride) {
    Block<T>& block = own_block<T>(inputs, outputs, parameters);
    const Layers<const T> layers(block.parameters.data(), inputs, outputs);
    for (std::size_t at = begin; at < end; at += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, end - at);
        forward(layers, x, at, rows, block);
        for (std::size_t p = 0; p < outputs; ++p) {
            const T* weights = layers.output_weights + p * kSecond;
            for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) {
                auto sum = broadcast(layers.output_biases[p]);
                for (std::size_t i = 0; i < kSecond; ++i)
                    sum += broadcast(weights[i]) * clip(load(block.second + i * kBlockRows + v));
                store(block.slopes + v, sum);
            }
            std::copy_n(block.slopes, rows, out + p * stride + (at - begin));
        }
    }
}

// Where sums over rows are added up: the gradient itself, in double after every block. In single precision adding the
// lanes of a vector up would take longer than the passes, so they stay in lanes until the end of a call, which is a few
// thousand rows.
template <typename T>
struct GradientSums {
    using Sum = double;
    double* sums;
    GradientSums(std::size_t, double* gradient) : sums(gradient) {}
};
template <>
struct GradientSums<float> {
    using Sum = core::LaneSumOf<float>;
    Sum* sums;
    GradientSums(std::size_t size, double* gradient) : size_(size), gradient_(gradient) {
        thread_local std::vector<Sum> memory;
        memory.assign(size, Sum{});
        sums = memory.data();
    }
    ~GradientSums() {
        for (std::size_t p = 0; p < size_; ++p) gradient_[p] += sum_of_lanes(sums[p].lanes);
    }
    GradientSums(const GradientSums&) = delete;
    GradientSums& operator=(const GradientSums&) = delete;

private:
    std::size_t size_;
    double* gradient_;
};

template <typename T>
void add_gradient_of(std::size_t inputs, std::size_t outputs, std::span<const double> parameters, const Columns& x,
                     std::size_t begin, std::size_t end, const double* slopes, std::size_t stride, double* gradient,
                     const Network::InputSlopes& by_inputs) {
    using Vector = typename LanesOf<T>::Type;
    Block<T>& block = own_block<T>(inputs, outputs, parameters);
    const Layers<const T> layers(block.parameters.data(), inputs, outputs);
    const GradientSums<T> own(parameters.size(), gradient);
    const Layers<typename GradientSums<T>::Sum> sums(own.sums, inputs, outputs);
    // The second layer's weights by input, for the way back.
    std::array<T, kFirst * kSecond> transposed{};
    for (std::size_t i = 0; i < kSecond; ++i)
        for (std::size_t j = 0; j < kFirst; ++j) transposed[j * kSecond + i] = layers.second_weights[i * kFirst + j];
    for (std::size_t at = begin; at < end; at += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, end - at);
        forward(layers, x, at, rows, block);
        for (std::size_t p = 0; p < outputs; ++p)
            fill(block.slopes + p * kBlockRows, slopes + p * stride + (at - begin), rows);
        add_row_sums(block.slopes, outputs, sums.output_biases);
        for (std::size_t p = 0; p < outputs; ++p)
            for (std::size_t i = 0; i < kSecond; ++i) {
                Vector output{};
                const Vector weight = broadcast(layers.output_weights[p * kSecond + i]);
                for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) {
                    const Vector value = load(block.second + i * kBlockRows + v);
                    const Vector slope = load(block.slopes + p * kBlockRows + v);
                    output += slope * clip(value);
                    T* back = block.second_slopes + i * kBlockRows + v;
                    const Vector own_slope = (value * value < 1 ? slope : Vector{}) * weight;
                    store(back, p == 0 ? own_slope : load(back) + own_slope);
                }
                add_to(sums.output_weights[p * kSecond + i], output);
            }
        add_row_sums(block.second_slopes, kSecond, sums.second_biases);
        add_outer(block.second_slopes, kSecond, block.first, kFirst, sums.second_weights);
        product(transposed.data(), nullptr, kFirst, kSecond, block.second_slopes, block.first_slopes,
                [&](std::size_t index, Vector sum) { return load(block.first + index) > 0 ? sum : Vector{}; });
        add_row_sums(block.first_slopes, kFirst, sums.first_biases);
        add_outer(block.first_slopes, kFirst, block.inputs, inputs, sums.first_weights);
        for (std::size_t k = by_inputs.first; k < inputs; ++k) {
            for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) {
                Vector sum{};
                for (std::size_t j = 0; j < kFirst; ++j)
                    sum +=
                        broadcast(layers.first_weights[j * inputs + k]) * load(block.first_slopes + j * kBlockRows + v);
                store(block.slopes + v, sum);  // those of the outputs are not needed any more
            }
            std::copy_n(block.slopes, rows, by_inputs.values + (k - by_inputs.first) * by_inputs.stride + (at - begin));
        }
    }
}

}  // namespace

std::vector<double> Network::start(core::Random& random, std::span<const double> levels) const {
    // He for the first layer's weights; biases N(0, 1), so that the kinks lie all over the inputs' range from the
    // start.
    std::vector<double> parameters(this->parameters(), 0.0);
    const Layers<double> layers(parameters.data(), inputs_, outputs_);
    const auto fill_normal = [&](double* from, std::size_t count, double sd) {
        for (std::size_t i = 0; i < count; ++i) from[i] = sd * random.normal();
    };
    fill_normal(layers.first_weights, kFirst * inputs_, std::sqrt(2 / static_cast<double>(inputs_)));
    fill_normal(layers.first_biases, kFirst, 1);
    fill_normal(layers.second_weights, kFirst * kSecond, std::sqrt(1 / static_cast<double>(kFirst)));
    fill_normal(layers.output_weights, outputs_ * kSecond, 0.3 / std::sqrt(static_cast<double>(kSecond)));
    std::copy_n(levels.begin(), outputs_, layers.output_biases);
    return parameters;
}

void Network::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                     double* out, std::size_t stride) const {
    (precision_ == Precision::full ? values_of<double> : values_of<float>)(inputs_, outputs_, parameters, x, begin, end,
                                                                           out, stride);
}

void Network::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                           const double* slopes, std::size_t stride, double* gradient) const {
    add_gradient(parameters, x, begin, end, slopes, stride, gradient, {inputs_, nullptr, 0});
}

void Network::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                           const double* slopes, std::size_t stride, double* gradient,
                           const InputSlopes& by_inputs) const {
    const auto add = precision_ == Precision::full ? add_gradient_of<double> : add_gradient_of<float>;
    add(inputs_, outputs_, parameters, x, begin, end, slopes, stride, gradient, by_inputs);
}

}  // namespace accrue::fields
