// Isotonic regression of what happened on its probability, by pooling adjacent violators.
#pragma once

#include <vector>

#include "accrue/figures.hpp"

namespace accrue::verification {

// Takes rows in ascending order of their probabilities; those of one probability count as one.
class Pooling {
public:
    // Rows of probabilities from `first` to `last`, whose fit is happened/weight.
    struct Block {
        double first, last;
        double weight, happened;
        double fit() const { return happened / weight; }
    };

    void clear() { blocks_.clear(), pending_ = {}; }
    void add(double probability, double weight, double happened) {
        if (pending_.weight > 0 && pending_.last == probability) {
            pending_.weight += weight;
            pending_.happened += happened;
            return;
        }
        push();
        pending_ = {probability, probability, weight, happened};
    }
    // The fit; no more rows follow.
    const std::vector<Block>& blocks() {
        push();
        pending_ = {};
        return blocks_;
    }

private:
    void push() {
        if (!(pending_.weight > 0)) return;
        Block next = pending_;
        while (!blocks_.empty() && blocks_.back().happened * next.weight >= next.happened * blocks_.back().weight) {
            next = {blocks_.back().first, next.last, next.weight + blocks_.back().weight,
                    next.happened + blocks_.back().happened};
            blocks_.pop_back();
        }
        blocks_.push_back(next);
    }

    std::vector<Block> blocks_;
    Block pending_{};
};

// The fit at a probability, on a straight line between blocks.
double fit_at(const std::vector<Pooling::Block>& blocks, double probability);

// The parts of a mean Brier score, from the fit of its rows.
ScoreParts brier_parts(double score, const std::vector<Pooling::Block>& blocks);

}  // namespace accrue::verification
