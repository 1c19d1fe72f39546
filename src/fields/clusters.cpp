#include "fields/clusters.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/error.hpp"

namespace accrue::fields {

namespace {

constexpr std::size_t kBlock = 256;
constexpr double kFar = std::numeric_limits<double>::infinity();

// Rows as points, row after row: clustering looks at one row at a time.
struct Points {
    std::size_t inputs;
    std::vector<double> values;
    std::size_t count() const { return inputs == 0 ? 0 : values.size() / inputs; }
    const double* at(std::size_t i) const { return &values[i * inputs]; }
};

double squared_distance(const double* a, const double* b, std::size_t inputs) {
    double sum = 0;
    for (std::size_t k = 0; k < inputs; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return sum;
}

struct Nearest {
    std::size_t centre = 0;
    double squared_distance = kFar;
};

Nearest nearest_centre(const double* point, const std::vector<double>& centres, std::size_t inputs) {
    Nearest nearest;
    for (std::size_t c = 0; c * inputs < centres.size(); ++c) {
        const double distance = squared_distance(point, &centres[c * inputs], inputs);
        if (distance < nearest.squared_distance) nearest = {c, distance};
    }
    return nearest;
}

// k-means++: each centre is a row drawn with a probability proportional to its squared distance to those before.
std::vector<double> seeds(const Points& points, std::size_t k, core::Random& random) {
    std::vector<double> centres;
    const auto add = [&](std::size_t i) { centres.insert(centres.end(), points.at(i), points.at(i) + points.inputs); };
    add(random.below(points.count()));
    std::vector<double> distances(points.count(), kFar);
    while (centres.size() < k * points.inputs) {
        double total = 0;
        const double* last = &centres[centres.size() - points.inputs];
        for (std::size_t i = 0; i < points.count(); ++i) {
            distances[i] = std::min(distances[i], squared_distance(points.at(i), last, points.inputs));
            total += distances[i];
        }
        if (!(total > 0)) break;  // every row is a centre already
        double left = random.uniform() * total;
        std::size_t drawn = 0;
        while (drawn + 1 < points.count() && (left -= distances[drawn]) >= 0) ++drawn;
        // Rounding may end on a row that is a centre.
        while (distances[drawn] == 0) drawn = (drawn + 1) % points.count();
        add(drawn);
    }
    return centres;
}

// Moves the centres to the means of their rows until none changes; returns the sum of squared distances.
double settle(const Points& points, std::vector<double>& centres) {
    constexpr int kMaxIterations = 100;
    const std::size_t k = centres.size() / points.inputs;
    double last = kFar;
    for (int iteration = 0; iteration < kMaxIterations; ++iteration) {
        std::vector<double> sums(centres.size(), 0.0);
        std::vector<double> counts(k, 0.0);
        double total = 0;
        for (std::size_t i = 0; i < points.count(); ++i) {
            const Nearest own = nearest_centre(points.at(i), centres, points.inputs);
            total += own.squared_distance;
            counts[own.centre] += 1;
            for (std::size_t d = 0; d < points.inputs; ++d) sums[own.centre * points.inputs + d] += points.at(i)[d];
        }
        if (!(total < last)) break;
        last = total;
        for (std::size_t c = 0; c < k; ++c)
            for (std::size_t d = 0; d < points.inputs && counts[c] > 0; ++d)
                centres[c * points.inputs + d] = sums[c * points.inputs + d] / counts[c];
    }
    return last;
}

}  // namespace

std::vector<double> Clusters::start(core::Random& random, std::span<const double> levels) const {
    std::vector<double> parameters(this->parameters(), levels[0]);
    std::generate_n(parameters.begin(), count_ * inputs_, [&] { return random.normal(); });
    return parameters;
}

void Clusters::nearest(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                       std::size_t* nearest) const {
    const std::size_t rows = end - begin;
    std::array<double, kBlock> best;
    best.fill(kFar);
    for (std::size_t c = 0; c < count_; ++c) {
        std::array<double, kBlock> distance{};
        for (std::size_t k = 0; k < inputs_; ++k) {
            const double* column = x.data + k * x.stride + begin;
            const double centre = parameters[c * inputs_ + k];
            for (std::size_t i = 0; i < rows; ++i) distance[i] += (column[i] - centre) * (column[i] - centre);
        }
        for (std::size_t i = 0; i < rows; ++i)
            if (c == 0 || distance[i] < best[i]) {
                best[i] = distance[i];
                nearest[i] = c;
            }
    }
}

void Clusters::values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      double* out, std::size_t) const {
    std::array<std::size_t, kBlock> own;
    for (std::size_t from = begin; from < end; from += kBlock) {
        const std::size_t to = std::min(end, from + kBlock);
        nearest(parameters, x, from, to, own.data());
        for (std::size_t i = from; i < to; ++i) out[i - begin] = parameters[count_ * inputs_ + own[i - from]];
    }
}

void Clusters::add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                            const double* slopes, std::size_t, double* gradient) const {
    std::array<std::size_t, kBlock> own;
    for (std::size_t from = begin; from < end; from += kBlock) {
        const std::size_t to = std::min(end, from + kBlock);
        nearest(parameters, x, from, to, own.data());
        for (std::size_t i = from; i < to; ++i) gradient[count_ * inputs_ + own[i - from]] += slopes[i - begin];
    }
}

std::vector<double> cluster_centres(const Columns& x, std::size_t rows, const std::vector<bool>& used, std::size_t k,
                                    core::Random& random) {
    Points points{x.inputs, {}};
    for (std::size_t i = 0; i < rows; ++i)
        for (std::size_t d = 0; d < x.inputs && used[i]; ++d) points.values.push_back(x.data[d * x.stride + i]);
    constexpr int kStarts = 3;
    std::vector<double> best;
    double least = kFar;
    for (int start = 0; start < kStarts; ++start) {
        std::vector<double> centres = seeds(points, k, random);
        const double total = settle(points, centres);
        if (best.empty() || total < least) {
            least = total;
            best = std::move(centres);
        }
    }
    return best;
}

std::shared_ptr<const Field> ClustersKind::make(std::span<const Range> ranges, std::size_t outputs,
                                                std::size_t size) const {
    core::require(size >= 1 && size <= Clusters::kMax, "there are 1 to {} clusters; it has {}", Clusters::kMax, size);
    return stacked(std::vector<std::shared_ptr<const Field>>(outputs, std::make_shared<Clusters>(ranges.size(), size)));
}

std::optional<Fitted> ClustersKind::solved(const TrainingRows& rows, std::span<const Range> ranges, std::size_t size,
                                           double level, core::Random& random) const {
    const std::size_t inputs = rows.x.inputs;
    Fitted own;
    std::vector<double>& parameters = own.parameters;
    parameters = cluster_centres(rows.x, rows.used.size(), rows.used, size, random);
    const std::size_t count = parameters.size() / inputs;  // fewer than asked for where rows lie in fewer places
    parameters.resize(count * (inputs + 1), 0.0);
    own.field = make(ranges, 1, count);
    // With log sigma = the number of the cluster the field itself tells which one a row is in.
    for (std::size_t c = 0; c < count; ++c) parameters[count * inputs + c] = static_cast<double>(c);
    std::vector<double> cluster(rows.used.size());
    own.values(rows.x, 0, rows.used.size(), cluster.data());
    std::vector<double> squares(count, 0.0);
    std::vector<double> weights(count, 0.0);
    for (std::size_t i = 0; i < rows.used.size(); ++i) {
        if (!rows.used[i]) continue;
        const double weight = rows.weights.empty() ? 1 : rows.weights[i];
        const auto c = static_cast<std::size_t>(cluster[i]);
        squares[c] += weight * rows.errors[i] * rows.errors[i];
        weights[c] += weight;
    }
    for (std::size_t c = 0; c < count; ++c) {
        const double log_sigma = weights[c] > 0 ? std::log(squares[c] / weights[c]) / 2 : level;
        parameters[count * inputs + c] = std::clamp(log_sigma, kLowestLogSigma, kHighestLogSigma);
    }
    return own;
}

}  // namespace accrue::fields
