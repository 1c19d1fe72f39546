#include "verify/isotonic.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace accrue::verification {

namespace {

double weight_of(std::span<const double> weights, std::size_t row) {
    return weights.empty() ? 1 : weights[row];
}

std::vector<std::uint32_t> order_of(std::span<const double> values, std::span<const double> weights) {
    std::vector<std::uint32_t> order;
    for (std::size_t i = 0; i < values.size(); ++i)
        if (weight_of(weights, i) > 0) order.push_back(static_cast<std::uint32_t>(i));
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
    return order;
}

// The least concave majorant of a path of steps, each with a fixed width and a height that grows. A fit that must not
// increase is its slope. Every node of a binary tree over the points of the path keeps the edge ("bridge") of its
// points' upper hull that leads from its left half to its right one; when a height grows, only the bridges on one way
// from a leaf to the root change (Overmars and van Leeuwen 1981).
class ConcaveMajorant {
public:
    // Step k, from 1 on, has the width widths[k - 1]; heights are 0.
    explicit ConcaveMajorant(std::span<const double> widths) : x_(widths.size() + 1), nodes_(4 * x_.size()) {
        std::partial_sum(widths.begin(), widths.end(), x_.begin() + 1);
        build(1, 0, last());
    }

    void raise(std::size_t step, double height) { raise(1, 0, last(), step, height); }

    struct Edge {
        std::size_t first, last;  // steps
        double slope;
    };
    Edge edge_over(std::size_t step) const {
        std::size_t node = 1;
        while (true) {
            const Node& own = nodes_[node];
            if (step <= own.left)
                node = left(node);
            else if (step > own.right)
                node = right(node);
            else
                return {own.left + 1U, own.right, (own.right_y - own.left_y) / (x_[own.right] - x_[own.left])};
        }
    }

private:
    // Heights of points are those above the start of the node's first step. A leaf is a bridge from its point to
    // itself.
    struct Node {
        std::uint32_t left = 0, right = 0;
        double left_y = 0, right_y = 0;
        double height = 0;  // of all its steps
        bool is_leaf() const { return left == right; }
    };

    static std::size_t left(std::size_t node) { return 2 * node; }
    static std::size_t right(std::size_t node) { return 2 * node + 1; }
    std::size_t last() const { return x_.size() - 1; }

    void build(std::size_t node, std::size_t low, std::size_t high) {
        if (low == high) {
            nodes_[node].left = nodes_[node].right = static_cast<std::uint32_t>(low);
            return;
        }
        const std::size_t middle = (low + high) / 2;
        build(left(node), low, middle);
        build(right(node), middle + 1, high);
        join(node, middle);
    }

    void raise(std::size_t node, std::size_t low, std::size_t high, std::size_t step, double height) {
        Node& own = nodes_[node];
        own.height += height;
        if (low == high) {
            own.left_y = own.right_y = own.height;
            return;
        }
        const std::size_t middle = (low + high) / 2;
        if (step <= middle)
            raise(left(node), low, middle, step, height);
        else
            raise(right(node), middle + 1, high, step, height);
        join(node, middle);
    }

    // A bridge inside a half, seen from the node above.
    struct Inside {
        std::size_t node;
        double base;  // height of the start of the node's first step
    };
    Inside first_half(const Inside& of) const { return {left(of.node), of.base}; }
    Inside second_half(const Inside& of) const { return {right(of.node), of.base + nodes_[left(of.node)].height}; }

    // Finds the bridge of a node from those of its halves: walks down both until one point is left of each, leaving out
    // a part that cannot hold an end of the bridge at every step. Points on one line are passed over, so that edges are
    // as long as possible.
    void join(std::size_t node, std::size_t middle) {
        Inside p = first_half({node, 0});
        Inside q = second_half({node, 0});
        const double between = (x_[middle] + x_[middle + 1]) / 2;
        while (true) {
            const Node& own_p = nodes_[p.node];
            const Node& own_q = nodes_[q.node];
            if (own_p.is_leaf() && own_q.is_leaf()) break;
            const double a = x_[own_p.left], b = x_[own_p.right], c = x_[own_q.left], d = x_[own_q.right];
            const double b_y = own_p.right_y + p.base, c_y = own_q.left_y + q.base;
            const double rise_p = own_p.right_y - own_p.left_y, rise_q = own_q.right_y - own_q.left_y;
            const double rise = c_y - b_y;
            if (!own_p.is_leaf() && rise * (b - a) >= rise_p * (c - b)) {
                p = first_half(p);  // c lies on the line ab or above it
            } else if (!own_q.is_leaf() && rise_q * (c - b) >= rise * (d - c)) {
                q = second_half(q);  // b lies on the line cd or above it
            } else if (own_p.is_leaf()) {
                q = first_half(q);
            } else if (own_q.is_leaf()) {
                p = second_half(p);
            } else {
                // Both lie below. Where the two lines meet before the second half, all of that half lies below ab.
                const double ab = rise_p / (b - a) * (between - b);
                const double cd = rise + rise_q / (d - c) * (between - c);
                if (ab >= cd)
                    p = second_half(p);
                else
                    q = first_half(q);
            }
        }
        Node& own = nodes_[node];
        const Node& from = nodes_[p.node];
        const Node& to = nodes_[q.node];
        own.left = from.left;
        own.right = to.left;
        own.left_y = from.left_y + p.base;
        own.right_y = to.left_y + q.base;
    }

    std::vector<double> x_;
    std::vector<Node> nodes_;
};

// Numbers to which a range of them is added at a time.
class RangeSums {
public:
    explicit RangeSums(std::size_t size) : tree_(size + 2) {}
    void add(std::size_t first, std::size_t last, double value) {  // from 1 on
        for (std::size_t k = first; k < tree_.size(); k += k & (~k + 1)) tree_[k] += value;
        for (std::size_t k = last + 1; k < tree_.size(); k += k & (~k + 1)) tree_[k] -= value;
    }
    double at(std::size_t place) const {
        double sum = 0;
        for (std::size_t k = place; k > 0; k -= k & (~k + 1)) sum += tree_[k];
        return sum;
    }

private:
    std::vector<double> tree_;
};

// The fit for one z after the other, and its integrals over z up to now.
class GrowingFit {
public:
    GrowingFit(std::span<const double> widths, double start)
        : majorant_(widths),
          ends_(widths.size() + 1),
          values_(ends_.size()),
          starts_(ends_.size(), start),
          integral_(widths.size()),
          square_(widths.size()) {
        ends_[1] = widths.size();
    }

    // An observation y = z at this place becomes one that is at most z.
    void pass(std::size_t place, double weight, double z) {
        const std::size_t last = majorant_.edge_over(place).last;
        majorant_.raise(place, weight);
        // Left of the new edge, and right of the old one, nothing has changed.
        const std::size_t first = first_of_block(place);
        std::size_t end = last;
        for (std::size_t block = first; block <= last; block = end + 1) {
            end = ends_[block];
            close(block, z);
        }
        for (std::size_t block = first; block <= end;) {
            const auto edge = majorant_.edge_over(block);
            ends_[block] = std::min(edge.last, end);
            values_[block] = edge.slope;
            starts_[block] = z;
            block = ends_[block] + 1;
        }
    }

    void finish(double z) {
        for (std::size_t block = 1, end = 0; block < ends_.size(); block = end + 1) {
            end = ends_[block];
            close(block, z);
        }
    }

    // Of the fit at this place up to z, before the end; and when all is done of the fit, and of its square.
    double integral(std::size_t place, double z) const {
        const std::size_t block = first_of_block(place);
        return integral_.at(place) + values_[block] * (z - starts_[block]);
    }
    double integral(std::size_t place) const { return integral_.at(place); }
    double square(std::size_t place) const { return square_.at(place); }

private:
    std::size_t first_of_block(std::size_t place) const {
        std::size_t first = majorant_.edge_over(place).first;
        while (ends_[first] == 0) --first;  // rounding may find points on one line that it passed over before
        return first;
    }
    void close(std::size_t block, double z) {
        const double value = values_[block];
        const double length = z - starts_[block];
        if (value > 0 && length > 0) {
            integral_.add(block, ends_[block], value * length);
            square_.add(block, ends_[block], value * value * length);
        }
        ends_[block] = 0;
    }

    ConcaveMajorant majorant_;
    // Of the block that starts at a place: its last place, 0 where none starts; its value, and since which z it has it.
    std::vector<std::size_t> ends_;
    std::vector<double> values_, starts_;
    RangeSums integral_, square_;
};

}  // namespace

std::vector<double> climatology_crps(std::span<const double> y, std::span<const double> weights) {
    const std::vector<std::uint32_t> order = order_of(y, {});
    std::vector<double> crps(y.size());
    double total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += weight_of(weights, i);
    // The integral of F^2 below an observation and of (1 - F)^2 above it, from gap to gap.
    double sum = 0;
    double below = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
        if (k > 0) sum += below / total * (below / total) * (y[order[k]] - y[order[k - 1]]);
        crps[order[k]] = sum;
        below += weight_of(weights, order[k]);
    }
    sum = 0;
    double above = 0;
    for (std::size_t k = order.size(); k-- > 0;) {
        if (k + 1 < order.size()) sum += above / total * (above / total) * (y[order[k + 1]] - y[order[k]]);
        crps[order[k]] += sum;
        above += weight_of(weights, order[k]);
    }
    return crps;
}

std::vector<double> isotonic_crps(std::span<const double> x, std::span<const double> y,
                                  std::span<const double> weights) {
    std::vector<double> crps(y.size());
    // Rows of one x share a place.
    std::vector<std::uint32_t> places(y.size());
    std::vector<double> widths;
    double before = 0;
    for (const std::uint32_t row : order_of(x, weights)) {
        if (widths.empty() || x[row] != before) widths.push_back(0);
        before = x[row];
        widths.back() += weight_of(weights, row);
        places[row] = static_cast<std::uint32_t>(widths.size());
    }
    if (widths.empty()) return crps;
    const std::vector<std::uint32_t> order = order_of(y, weights);
    GrowingFit fit(widths, y[order.front()]);
    std::vector<double> up_to_y(y.size());
    for (const std::uint32_t row : order) {
        up_to_y[row] = fit.integral(places[row], y[row]);
        fit.pass(places[row], weight_of(weights, row), y[row]);
    }
    const double end = y[order.back()];
    fit.finish(end);
    // The integral of F^2 - 2 F [z >= y] + [z >= y] up to the largest observation, from which on F is 1.
    for (const std::uint32_t row : order) {
        const double above = fit.integral(places[row]) - up_to_y[row];
        crps[row] = std::max(0.0, fit.square(places[row]) - 2 * above + (end - y[row]));
    }
    return crps;
}

}  // namespace accrue::verification
