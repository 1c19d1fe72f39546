#include "fit/objective.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "accrue/scores.hpp"
#include "core/error.hpp"
#include "core/exp.hpp"
#include "core/parallel.hpp"

namespace accrue::fitting {

namespace {

constexpr std::size_t kChunk = 4096;  // rows a task: long enough to be worth handing out

// Every chunk of the way back has a gradient of its own, which must be small beside its rows.
std::size_t gradient_chunk(std::size_t parameters) {
    constexpr std::size_t kMany = 10'000;
    return parameters < kMany ? kChunk : (2 * parameters + kChunk - 1) / kChunk * kChunk;
}

constexpr std::size_t kPart = 512;  // rows that a family works through at a time: their columns stay in the caches
constexpr std::size_t kRowsForRough = 15'000;

// Outputs of the field, output after output, become parameters of the rows' distributions and then slopes.
class LocalObjective final : public Objective {
public:
    LocalObjective(const fields::Outputs& outputs, const fields::Field& field, const fields::Columns& x, Slice slice,
                   std::span<const double> errors, std::span<const double> weights, const fields::Columns& given,
                   Score score, Precision precision)
        : family_(*outputs.family),
          location_(outputs.location ? outputs.count() - 1 : 0),
          kinds_(family_.given()),
          bounds_(outputs.bounds()),
          rough_(precision == Precision::rough ? field.rough() : nullptr),
          field_(rough_ ? *rough_ : field),
          x_(x),
          slice_(slice),
          score_(score),
          precision_(precision == Precision::rough ? Family::Precision::rough : Family::Precision::exact),
          ranks_(precision == Precision::rough ? Ranks::counted : Ranks::exact),
          rows_(slice.size()),
          values_(bounds_.size() * rows_),
          slopes_(bounds_.size() * rows_),
          gradient_chunk_(gradient_chunk(field.parameters())),
          partial_gradients_(core::block_count(rows_, gradient_chunk_) * field.parameters()),
          bounded_(bounds_.size() * rows_) {
        const auto take = [&](std::span<const double> from, std::vector<double>& to) {
            to.assign(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(slice.hole_begin));
            to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(slice.hole_end), from.end());
        };
        take(errors, errors_);
        if (!weights.empty()) take(weights, weights_);
        std::vector<double> own;
        for (std::size_t k = 0; k < kinds_.size(); ++k) {
            take({given.data + k * given.stride, errors.size()}, own);
            given_.insert(given_.end(), own.begin(), own.end());
        }
        if (location_ > 0) {
            located_.resize(rows_);
            located_given_ = given_;
        }
    }

    bool operator()(std::span<const double> parameters, double& cost, std::span<double> gradient) override {
        if (!field_.admissible(parameters)) return false;
        bool good = true;
        // Isolated: a thread that waits here must not begin another start, whose memory would come on top.
        core::isolate([&] {
            forward(parameters);
            const bool as_given = family_.is_normal() && location_ == 0;
            cost = as_given ? normal_cost(!gradient.empty()) : family_cost(!gradient.empty());
            good = std::isfinite(cost);
            if (good && !gradient.empty()) back(parameters, gradient);
        });
        return good;
    }

private:
    // Calls work(column_begin, column_end, position) for the stretches of columns behind positions [begin, end).
    template <typename Work>
    void for_stretches(std::size_t begin, std::size_t end, Work&& work) const {
        const std::size_t hole = slice_.hole_end - slice_.hole_begin;
        if (begin < slice_.hole_begin) {
            const std::size_t stop = std::min(end, slice_.hole_begin);
            work(begin, stop, begin);
            begin = stop;
        }
        if (begin < end) work(begin + hole, end + hole, begin);
    }

    void forward(std::span<const double> parameters) {
        core::for_blocks(rows_, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
            for_stretches(begin, end, [&](std::size_t from, std::size_t to, std::size_t position) {
                field_.values(parameters, x_, from, to, &values_[position], rows_);
            });
            for (std::size_t p = 0; p < bounds_.size(); ++p) {
                double* __restrict v = values_.data() + p * rows_;
                unsigned char* __restrict outside = bounded_.data() + p * rows_;
                const auto [low, high] = bounds_[p];
                for (std::size_t i = begin; i < end; ++i) {
                    outside[i] = !(v[i] > low && v[i] < high);
                    // A NaN becomes the lower bound; the cost stays finite and the step is judged by it.
                    const double above = v[i] > low ? v[i] : low;
                    v[i] = above < high ? above : high;
                }
                if (p > 0) continue;
                for (std::size_t i = begin; i < end; ++i) v[i] = core::vector_exp(v[i]);
            }
            if (location_ == 0) return;
            const double* location = values_.data() + location_ * rows_;
            for (std::size_t i = begin; i < end; ++i) located_[i] = errors_[i] - location[i];
            for (std::size_t k = 0; k < kinds_.size(); ++k) {
                if (kinds_[k] != Family::Given::bound) continue;
                for (std::size_t i = begin; i < end; ++i)
                    located_given_[k * rows_ + i] = given_[k * rows_ + i] - location[i];
            }
        });
    }

    double weight(std::size_t i) const { return weights_.empty() ? 1 : weights_[i]; }
    std::span<const double> scales() const { return std::span(values_).first(rows_); }

    double normal_cost(bool with_slopes) {
        const std::span<double> slopes = with_slopes ? std::span(slopes_) : std::span<double>{};
        if (score_.kind == Score::Kind::ar)
            return accuracy_reliability(errors_, scales(), score_.beta, weights_, slopes, &workspace_,
                                        Variable::log_sigma, ranks_)
                .value;
        const double cost = score_.kind == Score::Kind::crps ? mean_crps(errors_, scales(), weights_, slopes)
                                                             : mean_nlpd(errors_, scales(), weights_, slopes);
        for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] *= values_[i];
        return cost;
    }

    // Of any family, from the scores of its rows: the reliability score depends on normal scores alone.
    double family_cost(bool with_slopes) {
        const bool ar = score_.kind == Score::Kind::ar;
        const double accuracy = ar ? score_.beta : 1;
        if (ar) {
            scores_.resize(rows_);
            score_slopes_.resize(rows_);
        }
        const double total = core::sum_blocks<double>(rows_, kChunk, [&](std::size_t begin, std::size_t end) {
            double part = 0;
            for (std::size_t i = begin; i < end; ++i) part += weight(i);
            return part;
        });
        const double sum = core::sum_blocks<double>(rows_, kChunk, [&](std::size_t begin, std::size_t end) {
            double part = 0;
            for_parts(begin, end, [&](std::size_t from, const Family::Rows& rows) {
                std::array<double, kPart> values;
                double* location = location_ > 0 ? slopes_.data() + location_ * rows_ + from : nullptr;
                const Family::RowSlopes slopes{location, &slopes_[from], slopes_.data() + rows_ + from, rows_};
                const Family::RowSlopes* wanted = with_slopes ? &slopes : nullptr;
                if (score_.kind == Score::Kind::nlpd)
                    family_.nlpd_rows(rows, values.data(), wanted);
                else
                    family_.crps_rows(rows, values.data(), wanted, precision_);
                if (ar) family_.normal_score_rows(rows, &scores_[from], nullptr);
                for (std::size_t i = 0; i < rows.count; ++i) part += weight(from + i) * values[i];
                if (!with_slopes) return;
                for (std::size_t p = 0; p < bounds_.size(); ++p)
                    for (std::size_t i = from; i < from + rows.count; ++i)
                        slopes_[p * rows_ + i] *= accuracy * weight(i) / total;
            });
            return part;
        });
        if (!ar) return sum / total;
        const double rs = reliability_of_scores(
            scores_, weights_, with_slopes ? std::span(score_slopes_) : std::span<double>{}, &workspace_, ranks_);
        if (with_slopes)
            core::for_blocks(rows_, kChunk, [&](std::size_t, std::size_t begin, std::size_t end) {
                std::vector<double> memory(bounds_.size() * kPart);
                for_parts(begin, end, [&](std::size_t from, const Family::Rows& rows) {
                    double* location = location_ > 0 ? memory.data() + location_ * kPart : nullptr;
                    const Family::RowSlopes slopes{location, memory.data(), memory.data() + kPart, kPart};
                    family_.normal_score_rows(rows, &scores_[from], &slopes);
                    for (std::size_t p = 0; p < bounds_.size(); ++p)
                        for (std::size_t i = 0; i < rows.count; ++i)
                            slopes_[p * rows_ + from + i] +=
                                (1 - score_.beta) * score_slopes_[from + i] * memory[p * kPart + i];
                });
            });
        return score_.beta * (sum / total) + (1 - score_.beta) * rs;
    }

    // Calls work(first row, rows for the family) for parts of a block.
    template <typename Work>
    void for_parts(std::size_t begin, std::size_t end, Work&& work) const {
        const std::vector<double>& errors = location_ > 0 ? located_ : errors_;
        const std::vector<double>& given = location_ > 0 ? located_given_ : given_;
        for (std::size_t from = begin; from < end; from += kPart)
            work(from, Family::Rows{std::min(kPart, end - from), &errors[from], &values_[from],
                                    values_.data() + rows_ + from, rows_, given.empty() ? nullptr : &given[from]});
    }

    void back(std::span<const double> parameters, std::span<double> gradient) {
        const std::size_t size = parameters.size();
        std::fill(partial_gradients_.begin(), partial_gradients_.end(), 0.0);
        core::for_blocks(rows_, gradient_chunk_, [&](std::size_t chunk, std::size_t begin, std::size_t end) {
            for (std::size_t p = 0; p < bounds_.size(); ++p)
                for (std::size_t i = begin; i < end; ++i)
                    if (bounded_[p * rows_ + i] != 0) slopes_[p * rows_ + i] = 0;
            for_stretches(begin, end, [&](std::size_t from, std::size_t to, std::size_t position) {
                field_.add_gradient(parameters, x_, from, to, &slopes_[position], rows_,
                                    &partial_gradients_[chunk * size]);
            });
        });
        std::fill(gradient.begin(), gradient.end(), 0.0);
        for (std::size_t chunk = 0; chunk < core::block_count(rows_, gradient_chunk_); ++chunk)
            for (std::size_t p = 0; p < size; ++p) gradient[p] += partial_gradients_[chunk * size + p];
    }

    const Family& family_;
    std::size_t location_;  // the output that is the location; 0: it is given
    std::vector<Family::Given> kinds_;
    std::vector<fields::Bounds> bounds_;
    std::shared_ptr<const fields::Field> rough_;  // where it is used
    const fields::Field& field_;
    fields::Columns x_;
    Slice slice_;
    std::vector<double> errors_;
    std::vector<double> weights_;
    std::vector<double> given_;                    // column after column
    std::vector<double> located_, located_given_;  // errors and bounds about a location that is learned
    Score score_;
    Family::Precision precision_;
    Ranks ranks_;
    std::size_t rows_;
    std::vector<double> values_;  // outputs, then scales and further parameters
    std::vector<double> slopes_;
    std::size_t gradient_chunk_;
    std::vector<double> partial_gradients_;
    std::vector<unsigned char> bounded_;
    std::vector<double> scores_, score_slopes_;  // normal ones, of families that are not
    ScoreWorkspace workspace_;
};

}  // namespace

std::vector<std::string> score_names() {
    return {"ar", "crps", "nlpd"};
}

Score::Kind score_kind(const std::string& name) {
    const std::vector<std::string> names = score_names();
    const auto found = std::find(names.begin(), names.end(), name);
    core::require(found != names.end(), "there is no score '{}'; known are {}", name, fmt::join(names, ", "));
    return static_cast<Score::Kind>(found - names.begin());
}

Objective::Precision Objective::of_descent(std::size_t training_rows) {
    return training_rows >= kRowsForRough ? Precision::rough : Precision::exact;
}

std::unique_ptr<Objective> make_objective(const fields::Outputs& outputs, const fields::Field& field,
                                          const fields::Columns& x, Slice slice, std::span<const double> errors,
                                          std::span<const double> weights, const fields::Columns& given, Score score,
                                          Objective::Precision precision) {
    return std::make_unique<LocalObjective>(outputs, field, x, slice, errors, weights, given, score, precision);
}

}  // namespace accrue::fitting
