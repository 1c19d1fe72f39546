#include "sigma/network.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/lanes.hpp"

namespace accrue::sigma {

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
// and biases, output weights, output bias.
template <typename T>
struct Layers {
    T* first_weights;
    T* first_biases;
    T* second_weights;
    T* second_biases;
    T* output_weights;
    T* output_bias;

    Layers(T* parameters, std::size_t inputs)
        : first_weights(parameters),
          first_biases(first_weights + kFirst * inputs),
          second_weights(first_biases + kFirst),
          second_biases(second_weights + kFirst * kSecond),
          output_weights(second_biases + kSecond),
          output_bias(output_weights + kSecond) {}
};

// One block's values of every unit and the parameters, in the precision of the passes; reused from block to block and
// call to call. Aligned, so that sums do not depend on where the memory happens to lie.
template <typename T>
struct Block {
    struct alignas(64) Line {
        T values[64 / sizeof(T)];
    };
    std::vector<Line> memory;
    std::vector<T> parameters;
    T* inputs;
    T* first;
    T* second;
    T* second_slopes;
    T* first_slopes;
    T* slopes;

    void prepare(std::size_t input_count, std::span<const double> values) {
        parameters.resize(values.size());
        for (std::size_t p = 0; p < values.size(); ++p) parameters[p] = static_cast<T>(values[p]);
        const std::size_t columns = input_count + 2 * kFirst + 2 * kSecond + 1;
        memory.resize(columns * kBlockRows * sizeof(T) / sizeof(Line));
        inputs = memory[0].values;
        first = inputs + input_count * kBlockRows;
        second = first + kFirst * kBlockRows;
        second_slopes = second + kSecond * kBlockRows;
        first_slopes = second_slopes + kSecond * kBlockRows;
        slopes = first_slopes + kFirst * kBlockRows;
    }
};

template <typename T>
Block<T>& own_block(std::size_t inputs, std::span<const double> parameters) {
    thread_local Block<T> block;
    block.prepare(inputs, parameters);
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
    using Vector = typename LanesOf<T>::type;
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
void log_sigma_of(std::size_t inputs, std::span<const double> parameters, const Columns& x, std::size_t begin,
                  std::size_t end, double* out) {
    Block<T>& block = own_block<T>(inputs, parameters);
    const Layers<const T> layers(block.parameters.data(), inputs);
    for (std::size_t at = begin; at < end; at += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, end - at);
        forward(layers, x, at, rows, block);
        for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) {
            auto sum = broadcast(*layers.output_bias);
            for (std::size_t i = 0; i < kSecond; ++i)
                sum += broadcast(layers.output_weights[i]) * clip(load(block.second + i * kBlockRows + v));
            store(block.slopes + v, sum);
        }
        std::copy_n(block.slopes, rows, out + (at - begin));
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
void add_gradient_of(std::size_t inputs, std::span<const double> parameters, const Columns& x, std::size_t begin,
                     std::size_t end, const double* slopes, double* gradient) {
    using Vector = typename LanesOf<T>::type;
    Block<T>& block = own_block<T>(inputs, parameters);
    const Layers<const T> layers(block.parameters.data(), inputs);
    const GradientSums<T> own(parameters.size(), gradient);
    const Layers<typename GradientSums<T>::Sum> sums(own.sums, inputs);
    // The second layer's weights by input, for the way back.
    std::array<T, kFirst * kSecond> transposed{};
    for (std::size_t i = 0; i < kSecond; ++i)
        for (std::size_t j = 0; j < kFirst; ++j) transposed[j * kSecond + i] = layers.second_weights[i * kFirst + j];
    for (std::size_t at = begin; at < end; at += kBlockRows) {
        const std::size_t rows = std::min(kBlockRows, end - at);
        forward(layers, x, at, rows, block);
        fill(block.slopes, slopes + (at - begin), rows);
        add_row_sums(block.slopes, 1, sums.output_bias);
        for (std::size_t i = 0; i < kSecond; ++i) {
            Vector output{};
            for (std::size_t v = 0; v < kBlockRows; v += kLanesOf<T>) {
                const Vector value = load(block.second + i * kBlockRows + v);
                const Vector slope = load(block.slopes + v);
                output += slope * clip(value);
                const Vector inside = value * value < 1 ? slope : Vector{};
                store(block.second_slopes + i * kBlockRows + v, inside * broadcast(layers.output_weights[i]));
            }
            add_to(sums.output_weights[i], output);
        }
        add_row_sums(block.second_slopes, kSecond, sums.second_biases);
        add_outer(block.second_slopes, kSecond, block.first, kFirst, sums.second_weights);
        product(transposed.data(), nullptr, kFirst, kSecond, block.second_slopes, block.first_slopes,
                [&](std::size_t index, Vector sum) { return load(block.first + index) > 0 ? sum : Vector{}; });
        add_row_sums(block.first_slopes, kFirst, sums.first_biases);
        add_outer(block.first_slopes, kFirst, block.inputs, inputs, sums.first_weights);
    }
}

}  // namespace

std::vector<double> Network::start(core::Random& random, double log_spread) const {
    // He for the first layer's weights; biases N(0, 1), so that the kinks lie all over the inputs' range from the
    // start.
    std::vector<double> parameters(this->parameters(), 0.0);
    const Layers<double> layers(parameters.data(), inputs_);
    const auto fill_normal = [&](double* from, std::size_t count, double sd) {
        for (std::size_t i = 0; i < count; ++i) from[i] = sd * random.normal();
    };
    fill_normal(layers.first_weights, kFirst * inputs_, std::sqrt(2 / static_cast<double>(inputs_)));
    fill_normal(layers.first_biases, kFirst, 1);
    fill_normal(layers.second_weights, kFirst * kSecond, std::sqrt(1 / static_cast<double>(kFirst)));
    fill_normal(layers.output_weights, kSecond, 0.3 / std::sqrt(static_cast<double>(kSecond)));
    *layers.output_bias = log_spread;
    return parameters;
}

void Network::log_sigma(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                        double* out) const {
    (precision_ == Precision::full ? log_sigma_of<double> : log_sigma_of<float>)(inputs_, parameters, x, begin, end,
                                                                                 out);
}

void Network::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                           const double* slopes, double* gradient) const {
    (precision_ == Precision::full ? add_gradient_of<double> : add_gradient_of<float>)(inputs_, parameters, x, begin,
                                                                                       end, slopes, gradient);
}

}  // namespace accrue::sigma
