// The kinds of fields that there are for a scale, for a mean and for a correction, and how each is trained: recipes
// read it here and name none.
#pragma once

#include <functional>
#include <optional>

#include "fields/field.hpp"
#include "fields/targets.hpp"

namespace accrue::fields {

// Rows that a field is fitted to without a descent.
struct TrainingRows {
    Columns x;
    std::span<const double> errors;
    std::span<const double> weights;  // may be empty
    std::vector<bool> used;           // of the rows [0, used.size())
};

// A kind of field that the parameters of a distribution can be, sigma first of all. One file and one line in
// kinds.cpp; help texts, messages and the tests that run over all kinds know it from there.
class Kind {
public:
    virtual ~Kind() = default;

    virtual std::string_view name() const = 0;
    virtual std::string_view help() const = 0;  // what it is, in half a line
    virtual bool needs_inputs() const { return true; }
    virtual bool takes_categories() const { return false; }  // among the ranges; others take numbers only
    virtual bool takes_several() const { return true; }      // inputs; others take one

    // Outputs may be any numbers, not only the log of a scale.
    virtual bool gives_any_outputs() const { return false; }

    // Starts differ from one another, so that several are trained and judged; others need one.
    virtual bool random_starts() const { return false; }

    // Kinds of several sizes (the order of a polynomial, the number of clusters) are trained in each, from the first to
    // the last. `similar`: sizes that the rows cannot tell from the best one are kept with it; `best`: it alone.
    enum class Choice { best, similar };
    struct Sizes {
        std::size_t first = 0;
        std::size_t last = 0;
        Choice choice = Choice::best;
        bool several() const { return last > first; }
    };
    virtual Sizes sizes() const { return {}; }
    virtual std::string size_name(std::size_t /*size*/) const { return {}; }  // "order 3"

    // For inputs of these ranges. Throws InputError when it cannot be made for so many of them, or of this size.
    virtual std::shared_ptr<const Field> make(std::span<const Range> ranges, std::size_t outputs,
                                              std::size_t size) const = 0;
    // The size of a field with so many parameters for each output, where it has that.
    virtual std::size_t size_of(std::size_t /*inputs*/, std::size_t /*parameters*/) const { return sizes().first; }

    // A start for the next size from a solution; empty: a random start.
    virtual std::vector<double> grown(std::span<const double> /*solution*/, std::size_t /*outputs*/) const {
        return {};
    }
    // The solution, for kinds that have one without a descent.
    virtual std::optional<Fitted> solved(const TrainingRows& /*rows*/, std::span<const Range> /*ranges*/,
                                         std::size_t /*size*/, double /*level*/, core::Random& /*random*/) const {
        return std::nullopt;
    }
};

// By name: clusters, constant, network, polynomial (one input only). Throws InputError for another one.
const Kind& kind(std::string_view name);
std::vector<std::string> kind_names();  // sorted
const Kind& constant_kind();            // what skill is measured against
const Kind& default_kind();             // where nobody chose: it takes any inputs and gives any outputs
// Others that differ so much from the default one, and suit these inputs so well, that the average of both is better
// than either where rows are few.
std::vector<const Kind*> pooled_kinds(std::span<const Range> ranges, std::size_t outputs);

// A field of this kind with so many parameters, as a model file has it. Throws InputError when there is none.
std::shared_ptr<const Field> make_field(std::string_view name, std::span<const Range> ranges, std::size_t outputs,
                                        std::size_t parameters);

// A kind of mean that is learned from observations.
class MeanKind {
public:
    virtual ~MeanKind() = default;

    virtual std::string_view name() const = 0;
    virtual std::string_view help() const = 0;
    // How often all rows are divided into folds: where fits differ from start to start their average is the better
    // mean.
    virtual std::size_t rounds() const = 0;
    virtual void require_rows(std::size_t /*rows*/) const {}  // throws InputError when there are too many
    // Where it does, the inputs have to be numbers.
    virtual bool depends_on_inputs() const { return true; }
    // With more rows it is not tried where the mean is left to the fit: it would take too long.
    virtual std::size_t max_rows_of_choice() const { return std::numeric_limits<std::size_t>::max(); }
    // From so many rows on fits run one after the other, each on all threads.
    virtual std::size_t rows_to_share_threads() const = 0;
    // One fit. Those that stop early do so by the validation rows; others do not look at them.
    virtual bool stops_early() const { return true; }
    virtual Fitted fit(const Targets& targets, std::span<const std::size_t> training,
                       std::span<const std::size_t> validation, core::Random& random, const Report& report) const = 0;
    // What predicts new rows, from the fits of the folds: all of them, or another one to all rows.
    virtual bool refits() const { return false; }
    virtual std::vector<Fitted> finished(const Targets& targets, std::vector<Fitted> of_first_round,
                                         std::vector<Fitted> of_all, core::Random& random,
                                         const Report& report) const = 0;
    virtual Fitted from_json(const nlohmann::ordered_json& json, std::size_t inputs) const = 0;
};

// By name: constant, gp, network. Throws InputError for another one.
const MeanKind& mean_kind(std::string_view name);
std::vector<std::string> mean_kind_names();
const MeanKind& default_mean_kind();  // where nobody chose: it takes any number of rows

// The mean as a model file has it: one field, or the average of several. Throws InputError when an entry is missing, of
// another shape, or not finite.
nlohmann::ordered_json mean_json(std::span<const Fitted> members);
std::vector<Fitted> mean_from_json(const nlohmann::ordered_json& json, std::size_t inputs);

}  // namespace accrue::fields
