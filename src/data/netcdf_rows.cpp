#include "data/netcdf_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "data/cells.hpp"
#include "data/times.hpp"

namespace accrue::data {

RowGrid row_grid(const NetcdfFile& file, const NetcdfVariable& variable) {
    RowGrid grid;
    for (const int id : variable.dimensions) {
        const NetcdfDimension& dimension = file.dimension(id);
        core::require(std::find(grid.ids.begin(), grid.ids.end(), id) == grid.ids.end(),
                      "{} variable '{}' has its dimension '{}' twice: its values are no rows",
                      display_name(file.path()), printable(variable.name), printable(dimension.name));
        grid.ids.push_back(id);
        grid.sizes.push_back(dimension.size);
        core::require(!__builtin_mul_overflow(grid.rows, dimension.size, &grid.rows),
                      "{} variable '{}' claims more values than can be counted", display_name(file.path()),
                      printable(variable.name));
    }
    return grid;
}

SlabWalk::SlabWalk(const RowGrid& grid, std::size_t max_rows)
    : sizes_(grid.sizes), position_(grid.sizes.size(), 0), done_(grid.rows == 0) {
    std::size_t behind = 1;
    cut_ = sizes_.empty() ? 0 : sizes_.size() - 1;
    if (done_) return;
    while (cut_ > 0 && behind * sizes_[cut_] <= max_rows) behind *= sizes_[cut_--];
    if (!sizes_.empty()) step_ = std::clamp<std::size_t>(max_rows / behind, 1, sizes_[cut_]);
}

bool SlabWalk::next(Slab& slab) {
    if (done_) return false;
    slab.start = position_;
    slab.count.assign(sizes_.size(), 1);
    if (sizes_.empty()) {
        slab.rows = 1;
        done_ = true;
        return true;
    }
    slab.count[cut_] = std::min(step_, sizes_[cut_] - position_[cut_]);
    std::copy(sizes_.begin() + static_cast<std::ptrdiff_t>(cut_) + 1, sizes_.end(),
              slab.count.begin() + static_cast<std::ptrdiff_t>(cut_) + 1);
    slab.rows = std::accumulate(slab.count.begin(), slab.count.end(), std::size_t{1}, std::multiplies<>());

    position_[cut_] += slab.count[cut_];
    std::size_t d = cut_;
    while (position_[d] == sizes_[d]) {
        if (d == 0) {
            done_ = true;
            return true;
        }
        position_[d] = 0;
        ++position_[--d];
    }
    return true;
}

void keep_chunks(int file, int variable, nc_type type, std::span<const std::size_t> sizes) {
    if (sizes.empty()) return;
    int storage = NC_CONTIGUOUS;
    std::vector<std::size_t> chunks(sizes.size(), 1);
    if (netcdf().inq_var_chunking(file, variable, &storage, chunks.data()) != NC_NOERR) return;
    if (storage != NC_CHUNKED) return;
    double bytes = static_cast<double>(type_size(type));
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        const double chunk = static_cast<double>(std::max<std::size_t>(chunks[i], 1));
        bytes *= std::max(1.0, std::ceil(static_cast<double>(sizes[i]) / chunk)) * chunk;
    }
    constexpr double kMin = 4e6;  // the library's default
    constexpr double kMax = 256e6;
    constexpr std::size_t kSlots = 10007;  // of its hash table: a prime number, more than there are chunks to keep
    constexpr float kPreemption = 0.75F;   // its default
    // A little more, so that the last chunks of a slab do not push out the first.
    bytes = std::min(bytes * 1.25, kMax);
    if (bytes <= kMin) return;
    // Only speed depends on it.
    (void)netcdf().set_var_chunk_cache(file, variable, static_cast<std::size_t>(bytes), kSlots, kPreemption);
}

RowVariable::RowVariable(const NetcdfFile& file, const NetcdfVariable& variable, const RowGrid& grid, Kind kind,
                         const MissingMarks& marks)
    : file_(file), variable_(variable), decoder_(file, variable, kind), marks_(marks, variable.name) {
    for (const double value : marks_.values())
        marked_values_.push_back(variable.type == NC_FLOAT ? static_cast<double>(static_cast<float>(value)) : value);
    const std::string name = fmt::format("{} variable '{}'", display_name(file.path()), printable(variable.name));
    core::require(kind != Kind::number || !variable.is_text(), "{} holds text, not numbers", name);
    core::require(variable.is_number() || variable.is_text(),
                  "{} is of a compound or user-defined type, which is not read", name);

    for (std::size_t i = 0; i < variable.dimensions.size(); ++i) {
        const int id = variable.dimensions[i];
        const auto found = std::find(grid.ids.begin(), grid.ids.end(), id);
        const auto earlier = variable.dimensions.begin() + static_cast<std::ptrdiff_t>(i);
        const NetcdfDimension& dimension = file.dimension(id);
        core::require(std::find(variable.dimensions.begin(), earlier, id) == earlier, "{} has its dimension '{}' twice",
                      name, printable(dimension.name));
        if (found == grid.ids.end()) {
            // Characters of one text.
            if (variable.type == NC_CHAR && i + 1 == variable.dimensions.size()) {
                text_length_ = std::max<std::size_t>(dimension.size, 1);
                core::require(dimension.size > 0, "{} holds texts of no characters", name);
                break;
            }
            std::vector<std::string> names;
            for (const int row_id : grid.ids) names.push_back(file.dimension(row_id).name);
            core::refuse("{} has the dimension '{}', which the rows lack: their dimensions are {}", name,
                         printable(dimension.name), names.empty() ? "none (one value)" : name_list(names));
        }
        matched_.push_back(static_cast<std::size_t>(found - grid.ids.begin()));
    }
    same_as_rows_ = matched_.size() == grid.ids.size() && std::is_sorted(matched_.begin(), matched_.end());
}

void RowVariable::keep_chunks(const RowGrid& grid, std::size_t cut) const {
    if (!file_.is_hdf5()) return;
    std::vector<std::size_t> sizes(variable_.dimensions.size(), 0);
    for (std::size_t i = 0; i < matched_.size(); ++i)
        if (matched_[i] > cut) sizes[i] = grid.sizes[matched_[i]];
    data::keep_chunks(file_.id(), variable_.id, variable_.type, sizes);
}

// Turns the slab into the variable's own start and count; false when they are those of the last call.
bool RowVariable::select(const Slab& slab) {
    std::vector<std::size_t> start;
    std::vector<std::size_t> count;
    std::size_t elements = 1;
    for (const std::size_t d : matched_) {
        start.push_back(slab.start[d]);
        count.push_back(slab.count[d]);
        elements *= slab.count[d];
    }
    if (text_length_ > 0) {
        start.push_back(0);
        count.push_back(text_length_);
    }
    if (elements_ > 0 && start == start_ && count == count_) return false;
    start_ = std::move(start);
    count_ = std::move(count);
    elements_ = elements;
    return true;
}

// rows[r] = source(element that belongs to row r).
template <typename Value, typename Source>
void RowVariable::spread(const Slab& slab, const Source& source, std::span<Value> rows) const {
    const std::size_t dimensions = slab.count.size();
    if (dimensions == 0) {
        rows[0] = source(0);
        return;
    }
    std::vector<std::size_t> strides(dimensions, 0);
    std::size_t stride = 1;
    for (std::size_t i = matched_.size(); i-- > 0;) {
        strides[matched_[i]] = stride;
        stride *= slab.count[matched_[i]];
    }
    std::vector<std::size_t> index(dimensions, 0);
    const std::size_t last = dimensions - 1;
    std::size_t element = 0;
    for (std::size_t row = 0; row < slab.rows;) {
        for (std::size_t i = 0; i < slab.count[last]; ++i) rows[row++] = source(element + i * strides[last]);
        for (std::size_t d = last; d-- > 0;) {
            element += strides[d];
            if (++index[d] < slab.count[d]) break;
            element -= strides[d] * slab.count[d];
            index[d] = 0;
        }
    }
}

void RowVariable::read_elements(std::span<double> values) {
    file_.check(netcdf().get_vara_double(file_.id(), variable_.id, start_.data(), count_.data(), values.data()),
                fmt::format("variable '{}'", printable(variable_.name)));
    decoder_.decode(values);
    for (const double marked : marked_values_)
        std::replace(values.begin(), values.end(), marked, std::numeric_limits<double>::quiet_NaN());
}

void RowVariable::read_numbers(const Slab& slab, std::span<double> values) {
    const bool changed = select(slab);
    if (same_as_rows_ && !variable_.is_text()) {
        read_elements(values);
        return;
    }
    if (changed && variable_.is_text()) {
        read_texts();
        parse_times();
    } else if (changed) {
        buffer_.resize(elements_);
        read_elements(buffer_);
    }
    spread(
        slab, [&](std::size_t element) { return buffer_[element]; }, values);
}

void RowVariable::read_labels(const Slab& slab, std::span<std::uint32_t> elements) {
    if (select(slab)) read_texts();
    spread(
        slab, [](std::size_t element) { return static_cast<std::uint32_t>(element); }, elements);
}

void RowVariable::read_texts() {
    const NetcdfLibrary& nc = netcdf();
    const std::string what = fmt::format("variable '{}'", printable(variable_.name));
    labels_.assign(elements_, {});
    if (variable_.type == NC_CHAR) {
        const std::size_t length = std::max<std::size_t>(text_length_, 1);
        std::string text(elements_ * length, '\0');
        file_.check(nc.get_vara_text(file_.id(), variable_.id, start_.data(), count_.data(), text.data()), what);
        for (std::size_t i = 0; i < elements_; ++i) {
            // Shorter texts are filled up with zeros or, from Fortran, with blanks.
            std::string_view label = std::string_view(text).substr(i * length, length);
            labels_[i] = trim(label.substr(0, label.find('\0')));
        }
    } else if (variable_.type == NC_STRING) {
        std::vector<char*> texts(elements_, nullptr);
        file_.check(nc.get_vara_string(file_.id(), variable_.id, start_.data(), count_.data(), texts.data()), what);
        for (std::size_t i = 0; i < elements_; ++i)
            if (texts[i] != nullptr) labels_[i] = trim(texts[i]);
        file_.check(nc.free_string(texts.size(), texts.data()), what);
    } else {
        buffer_.resize(elements_);
        read_elements(buffer_);
        for (std::size_t i = 0; i < elements_; ++i)
            if (!std::isnan(buffer_[i])) labels_[i] = fmt::format("{}", buffer_[i]);
        // Whole numbers beyond 2^53 that differ must not become one label.
        if (variable_.type == NC_INT64) {
            std::vector<long long> exact(elements_);
            file_.check(nc.get_vara_longlong(file_.id(), variable_.id, start_.data(), count_.data(), exact.data()),
                        what);
            for (std::size_t i = 0; i < elements_; ++i)
                if (!labels_[i].empty()) labels_[i] = fmt::format("{}", exact[i]);
        } else if (variable_.type == NC_UINT64) {
            std::vector<unsigned long long> exact(elements_);
            file_.check(nc.get_vara_ulonglong(file_.id(), variable_.id, start_.data(), count_.data(), exact.data()),
                        what);
            for (std::size_t i = 0; i < elements_; ++i)
                if (!labels_[i].empty()) labels_[i] = fmt::format("{}", exact[i]);
        }
        return;
    }
    for (std::string& label : labels_)
        if (marks_.is_missing(label)) label.clear();
}

void RowVariable::parse_times() {
    buffer_.assign(elements_, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < elements_; ++i) {
        if (labels_[i].empty()) continue;
        const TimeText time = parse_iso_time(labels_[i]);
        core::require(time.state == TimeState::good, "{} variable '{}': '{}' is not an ISO 8601 time",
                      display_name(file_.path()), printable(variable_.name), printable(labels_[i]));
        buffer_[i] = time.seconds;
    }
}

namespace {

// The variables that a column consists of, and how it is computed where it is not one of them.
struct Sources {
    std::vector<std::string> names;
    std::optional<Expression> expression;
};

Sources sources_of(const NetcdfFile& file, const std::string& column) {
    if (file.find(column) == nullptr && !file.is_in_group(column))
        if (auto expression = computed_column(column, file.variable_names(), display_name(file.path()))) {
            std::vector<std::string> names = expression->columns();
            return {std::move(names), std::move(expression)};
        }
    return {{column}, std::nullopt};
}

}  // namespace

NetcdfVariable spanned(const NetcdfFile& file, std::span<const std::string> columns) {
    std::vector<const NetcdfVariable*> variables;
    for (const std::string& column : columns)
        for (const std::string& name : sources_of(file, column).names) variables.push_back(&file.variable(name));
    NetcdfVariable all;
    for (const NetcdfVariable* variable : variables)
        if (all.name.empty() || variable->dimensions.size() > all.dimensions.size()) all = *variable;
    for (const NetcdfVariable* variable : variables)
        for (const int id : variable->dimensions) {
            if (std::find(all.dimensions.begin(), all.dimensions.end(), id) != all.dimensions.end()) continue;
            // In a classic file the unlimited dimension can only be the first.
            all.dimensions.insert(file.dimension(id).unlimited ? all.dimensions.begin() : all.dimensions.end(), id);
        }
    return all;
}

RowNumbers::RowNumbers(const NetcdfFile& file, const std::string& name, const RowGrid& grid, Kind kind, Rule rule,
                       const MissingMarks& marks)
    : file_(file), rule_(rule) {
    Sources sources = kind == Kind::number ? sources_of(file, name) : Sources{{name}, std::nullopt};
    for (const std::string& source : sources.names)
        variables_.emplace_back(file, file.variable(source), grid, kind, marks);
    if (!sources.expression) return;
    computed_ = ComputedColumn{std::move(*sources.expression), rule};
    operands_.resize(variables_.size());
}

void RowNumbers::keep_chunks(const RowGrid& grid, std::size_t cut) const {
    for (const RowVariable& variable : variables_) variable.keep_chunks(grid, cut);
}

void RowNumbers::read(const Slab& slab, std::span<double> values) {
    if (!computed_) {
        variables_.front().read_numbers(slab, values);
        return;
    }
    for (std::size_t k = 0; k < variables_.size(); ++k) {
        operands_[k].resize(slab.rows);
        variables_[k].read_numbers(slab, operands_[k]);
    }
    std::vector<double> row(variables_.size());
    for (std::size_t i = 0; i < slab.rows; ++i) {
        for (std::size_t k = 0; k < row.size(); ++k) row[k] = operands_[k][i];
        values[i] = computed_->value(row);
    }
}

void RowNumbers::refuse_missing(const Slab& slab, std::size_t row) const {
    std::size_t k = 0;
    while (k + 1 < operands_.size() && !std::isnan(operands_[k][row])) ++k;
    refuse(variables_[k], slab, row, value_is_missing());
}

void RowNumbers::check(const Slab& slab, std::size_t row, double value) const {
    for (std::size_t k = 0; k < operands_.size(); ++k)
        if (std::isinf(operands_[k][row]))
            refuse(variables_[k], slab, row, fmt::format("'{}' is not finite", operands_[k][row]));
    if (computed_) {
        std::vector<double> operands;
        for (const std::vector<double>& column : operands_) operands.push_back(column[row]);
        const std::string trouble = computed_->trouble(value, operands);
        if (!trouble.empty())
            core::refuse("{}{}: {}", display_name(file_.path()), variables_.front().place(slab, row), trouble);
        return;
    }
    const std::string name = printable(variables_.front().variable().name);
    if (std::isinf(value))
        refuse(variables_.front(), slab, row, fmt::format("'{}' is not finite", value));
    else if (rule_ == Rule::positive && !(value > 0) && !std::isnan(value))
        refuse(variables_.front(), slab, row, fmt::format("{} must be positive; it is {}", name, value));
    else if (rule_ == Rule::not_negative && value < 0)
        refuse(variables_.front(), slab, row, fmt::format("{} must not be negative; it is {}", name, value));
}

void RowNumbers::refuse(const RowVariable& at, const Slab& slab, std::size_t row, const Message& what) const {
    core::refuse("{} variable '{}'{}: {}", display_name(file_.path()), printable(at.variable().name),
                 at.place(slab, row), what);
}

std::string RowVariable::place(const Slab& slab, std::size_t row) const {
    std::vector<std::size_t> index(slab.count.size());
    for (std::size_t d = slab.count.size(); d-- > 0;) {
        index[d] = slab.start[d] + row % slab.count[d];
        row /= slab.count[d];
    }
    std::string text;
    for (std::size_t i = 0; i < matched_.size(); ++i)
        text += fmt::format("{}{}={}", i == 0 ? " at " : ", ", printable(file_.dimension(variable_.dimensions[i]).name),
                            index[matched_[i]]);
    return text;
}

}  // namespace accrue::data
