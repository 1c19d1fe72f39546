#include "fit/objective.hpp"

#include <tbb/task_arena.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"

namespace accrue::fitting {

namespace {

constexpr std::size_t kChunk = 4096;  // rows a task: long enough to be worth handing out
constexpr std::size_t kRowsForRough = 15'000;

}  // namespace

Score::Kind score_kind(const std::string& name) {
    if (name == "ar") return Score::Kind::ar;
    if (name == "crps") return Score::Kind::crps;
    if (name == "nlpd") return Score::Kind::nlpd;
    core::refuse("there is no score '{}'; known are ar, crps, nlpd", name);
}

Objective::Precision Objective::of_descent(std::size_t training_rows) {
    return training_rows >= kRowsForRough ? Precision::rough : Precision::exact;
}

Objective::Objective(const sigma::Form& form, const sigma::Columns& x, Slice slice, std::span<const double> errors,
                     std::span<const double> weights, Score score, Precision precision)
    : rough_(precision == Precision::rough ? form.rough() : nullptr),
      form_(rough_ ? *rough_ : form),
      x_(x),
      slice_(slice),
      score_(score),
      ranks_(precision == Precision::rough ? Ranks::counted : Ranks::exact),
      sigmas_(slice.size()),
      slopes_(slice.size()),
      partial_gradients_(core::block_count(slice.size(), kChunk) * form.parameters()),
      bounded_(slice.size()) {
    const auto take = [&](std::span<const double> from, std::vector<double>& to) {
        to.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(slice.hole_begin));
        to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(slice.hole_end), from.end());
    };
    take(errors, errors_);
    if (!weights.empty()) take(weights, weights_);
}

template <typename Work>
void Objective::for_stretches(std::size_t begin, std::size_t end, Work&& work) const {
    const std::size_t hole = slice_.hole_end - slice_.hole_begin;
    if (begin < slice_.hole_begin) {
        const std::size_t stop = std::min(end, slice_.hole_begin);
        work(begin, stop, begin);
        begin = stop;
    }
    if (begin < end) work(begin + hole, end + hole, begin);
}

bool Objective::operator()(std::span<const double> parameters, double& cost, std::span<double> gradient) {
    if (!form_.admissible(parameters)) return false;
    const std::size_t n = errors_.size();
    bool good = true;
    // Isolated: a thread that waits here must not begin another start, whose memory would come on top.
    tbb::this_task_arena::isolate([&] {
        core::for_blocks(n, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
            for_stretches(begin, end, [&](std::size_t from, std::size_t to, std::size_t position) {
                form_.log_sigma(parameters, x_, from, to, &sigmas_[position]);
            });
            double* __restrict s = sigmas_.data();
            unsigned char* __restrict outside = bounded_.data();
            for (std::size_t i = begin; i < end; ++i) {
                outside[i] = !(s[i] > sigma::kLowestLogSigma && s[i] < sigma::kHighestLogSigma);
                // A NaN becomes the lower bound; the cost stays finite and the step is judged by it.
                const double above = s[i] > sigma::kLowestLogSigma ? s[i] : sigma::kLowestLogSigma;
                s[i] = core::vector_exp(above < sigma::kHighestLogSigma ? above : sigma::kHighestLogSigma);
            }
        });

        const std::span<double> slopes = gradient.empty() ? std::span<double>{} : std::span(slopes_);
        switch (score_.kind) {
            case Score::Kind::ar:
                cost = accuracy_reliability(errors_, sigmas_, score_.beta, weights_, slopes, &workspace_,
                                            Variable::log_sigma, ranks_)
                           .value;
                break;
            case Score::Kind::crps:
                cost = mean_crps(errors_, sigmas_, weights_, slopes);
                break;
            case Score::Kind::nlpd:
                cost = mean_nlpd(errors_, sigmas_, weights_, slopes);
                break;
        }
        good = std::isfinite(cost);
        if (!good || gradient.empty()) return;

        const bool by_sigma = score_.kind != Score::Kind::ar;
        const std::size_t size = parameters.size();
        std::fill(partial_gradients_.begin(), partial_gradients_.end(), 0.0);
        core::for_blocks(n, kChunk, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                if (by_sigma) slopes_[i] *= sigmas_[i];
                if (bounded_[i] != 0) slopes_[i] = 0;
            }
            for_stretches(begin, end, [&](std::size_t from, std::size_t to, std::size_t position) {
                form_.add_gradient(parameters, x_, from, to, &slopes_[position], &partial_gradients_[chunk * size]);
            });
        });
        std::fill(gradient.begin(), gradient.end(), 0.0);
        for (std::size_t chunk = 0; chunk < core::block_count(n, kChunk); ++chunk)
            for (std::size_t p = 0; p < size; ++p) gradient[p] += partial_gradients_[chunk * size + p];
    });
    return good;
}

}  // namespace accrue::fitting
