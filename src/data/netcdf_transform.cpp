// Columns added to a NetCDF file: all that it holds is kept, and every added column becomes a variable.
//
// - A number is a double with the dimensions of the rows, whatever the type of the variable that defines them: the same
//   numbers as in CSV.
// - A flag is a byte with flag_values and flag_meanings.
// - Columns with a probability become one variable `quantiles`, with a dimension `quantile` in front of the rows'
//   dimensions, or behind the first where that one is unlimited (classic files cannot have anything before it), and
//   a coordinate variable quantile(quantile).
//
// A NetCDF-4 file is copied byte by byte and added to, so that groups, types, chunks and compression stay as they are.
// A classic file is written anew, in the smallest of the three classic formats, from its own upwards, that holds it.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>

#include "accrue/files.hpp"
#include "accrue/messages.hpp"
#include "core/descriptors.hpp"
#include "core/error.hpp"
#include "core/parallel.hpp"
#include "data/input_file.hpp"
#include "data/netcdf.hpp"
#include "data/netcdf_file.hpp"
#include "data/netcdf_rows.hpp"

namespace accrue::data {

namespace {

constexpr std::size_t kSlabRows = std::size_t{1} << 16U;
constexpr std::size_t kBlockRows = 4096;
constexpr std::size_t kMaxInChunk = std::size_t{1} << 19U;  // values: 4 MB
constexpr const char* kQuantiles = "quantiles";
constexpr const char* kQuantile = "quantile";

// A file of the library that is open for writing. Whatever goes wrong with it is the machine's fault.
class NetcdfWriter {
public:
    // `shown` is the name for messages.
    explicit NetcdfWriter(std::string shown) : shown_(std::move(shown)) {}
    ~NetcdfWriter() {
        if (id_ >= 0) (void)netcdf().close(id_);
    }
    NetcdfWriter(const NetcdfWriter&) = delete;
    NetcdfWriter& operator=(const NetcdfWriter&) = delete;

    int id() const { return id_; }

    // check(nc.put_vara, ...) in one: errno is looked at because HDF5 has one error for everything.
    template <typename Call, typename... Args>
    void operator()(const Call& call, Args... args) const {
        errno = 0;
        const int status = call(id_, args...);
        if (status != NC_NOERR) fail(status, errno);
    }
    void create(const std::string& path, int mode) {
        errno = 0;
        int id = -1;
        const core::StandardDescriptors taken;
        const int status = netcdf().create(path.c_str(), mode, &id);
        if (status != NC_NOERR) fail(status, errno);
        id_ = id;
    }
    // Opens a copy of the file `original`.
    void open(const std::string& path, const std::string& original) {
        errno = 0;
        int id = -1;
        const core::StandardDescriptors taken;
        const int status = netcdf().open(path.c_str(), NC_WRITE, &id);
        core::require(status != NC_ECANTWRITE,
                      "{} was not written by the NetCDF library, and variables cannot be added to it; convert it with "
                      "nccopy first",
                      display_name(original));
        if (status != NC_NOERR) fail(status, errno);
        id_ = id;
    }
    void close() {
        const int id = std::exchange(id_, -1);
        errno = 0;
        const int status = netcdf().close(id);
        if (status != NC_NOERR) fail(status, errno);
    }

private:
    [[noreturn]] void fail(int status, int system_error) const {
        const bool is_full = system_error == ENOSPC || system_error == EFBIG || system_error == EDQUOT;
        const std::string reason = status > 0 ? core::system_message(status)
                                   : is_full  ? core::system_message(system_error)
                                              : std::string(netcdf().strerror(status));
        // The library reads names that it does not write: not UTF-8, for example.
        const bool is_bad_name =
            status == NC_EBADNAME || status == NC_ENOTATT || status == NC_EMAXNAME || status == NC_ENAMEINUSE;
        core::require(!is_bad_name, "cannot write {}: the input has a name that NetCDF does not allow ({})", shown_,
                      reason);
        throw MachineError(fmt::format("cannot write {}: {}", shown_, reason));
    }

    std::string shown_;
    int id_ = -1;
};

// Columns of equal length that each begin at a multiple of 64 bytes.
class Columns {
public:
    Columns(std::size_t columns, std::size_t rows)
        : stride_((rows + kLine - 1) / kLine * kLine), memory_(columns * stride_ + kLine) {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        first_ = memory_.data() + (kLineBytes - address % kLineBytes) % kLineBytes / sizeof(double);
        for (std::size_t c = 0; c < columns; ++c) spans_.emplace_back(first_ + c * stride_, rows);
    }
    std::span<double> operator[](std::size_t column) { return spans_[column]; }
    template <typename Value>
    std::vector<std::span<Value>> rows(std::size_t begin, std::size_t end) const {
        std::vector<std::span<Value>> part;
        for (const auto& span : spans_) part.emplace_back(span.subspan(begin, end - begin));
        return part;
    }

private:
    static constexpr std::size_t kLineBytes = 64;
    static constexpr std::size_t kLine = kLineBytes / sizeof(double);
    std::size_t stride_;
    std::vector<double> memory_;
    double* first_ = nullptr;
    std::vector<std::span<double>> spans_;
};

// Where an added column goes.
struct Target {
    int variable = -1;
    bool flag = false;
    std::optional<std::size_t> quantile;  // index along that dimension
};

class NetcdfTransform {
public:
    NetcdfTransform(const std::string& input, const std::string& output, const TransformPlan& plan,
                    const ComputeRows& compute)
        : input_(input),
          output_(output),
          plan_(plan),
          compute_(compute),
          grid_(rows_grid()),
          like_(variable_like_rows()),
          chunks_(chunks_of_added()),
          writer_(display_name(output)) {
        for (const TransformInput& column : plan.inputs) {
            columns_.emplace_back(input_, column.name, grid_, column.kind, Rule::any, plan.marks);
            core::require(column.kind != Kind::time || columns_.back().is_dated(),
                          "{} variable '{}' holds times without a date ('days since ...')", display_name(input_.path()),
                          printable(column.name));
        }
        require_marked_columns(plan.marks, input_.variable_names(), input);
        check_names();
    }

    void run();

private:
    RowGrid rows_grid() const;
    const NetcdfVariable* variable_like_rows() const;
    std::vector<std::size_t> chunks_of_added() const;
    void check_names() const;
    int classic_mode() const;
    std::size_t largest_size() const;
    void copy_bytes(AtomicFile& file) const;
    void copy_definitions() const;
    void copy_values() const;
    void define_added();
    int define(const std::string& name, nc_type type, const std::string& long_name, bool has_units,
               bool along_quantile);
    void put_text(int variable, const char* name, const std::string& text) const;
    void put_history() const;
    void keep_chunks_of_added(std::size_t cut) const;
    void add_rows();
    void read_codes(std::size_t c, const Slab& slab, std::span<double> column);
    void compute_slab(const Slab& slab, std::size_t first, Columns& values, Columns& results);
    void write_slab(const Slab& slab, Columns& results) const;

    NetcdfFile input_;
    const std::string& output_;
    const TransformPlan& plan_;
    const ComputeRows& compute_;
    RowGrid grid_;
    const NetcdfVariable* like_;       // has the dimensions of the rows; may be null
    std::vector<std::size_t> chunks_;  // of added variables; empty: contiguous
    std::vector<RowNumbers> columns_;
    NetcdfWriter writer_;
    std::vector<double> probabilities_;
    std::vector<Target> targets_;
    std::size_t quantile_place_ = 0;  // among the dimensions of `quantiles`
    int quantile_dimension_ = -1;
    int quantile_variable_ = -1;
};

RowGrid NetcdfTransform::rows_grid() const {
    core::require(!plan_.rows_of.empty() || !plan_.inputs.empty(),
                  "{}: no variable is named whose dimensions would be the rows", display_name(input_.path()));
    if (!plan_.rows_of.empty()) return row_grid(input_, spanned(input_, std::span(&plan_.rows_of, 1)));
    std::vector<std::string> columns;
    for (const TransformInput& input : plan_.inputs) {
        // The last dimension of a text may count its letters.
        const NetcdfVariable* variable = input_.find(input.name);
        if (input.kind != Kind::text || variable == nullptr || !variable->is_text()) columns.push_back(input.name);
    }
    return row_grid(input_, spanned(input_, columns));
}

const NetcdfVariable* NetcdfTransform::variable_like_rows() const {
    if (const NetcdfVariable* rows = input_.find(plan_.rows_of)) return rows;
    for (const TransformInput& column : plan_.inputs)
        if (const NetcdfVariable* input = input_.find(column.name); input != nullptr && input->dimensions == grid_.ids)
            return input;
    return nullptr;
}

// As those of the variable with the same dimensions, else the library's way: contiguous, or, where a dimension is
// unlimited, a chunk for each place along it.
std::vector<std::size_t> NetcdfTransform::chunks_of_added() const {
    std::vector<std::size_t> chunks(grid_.ids.size(), 1);
    if (!input_.is_hdf5() || chunks.empty()) return {};
    if (like_ != nullptr) {
        int storage = NC_CONTIGUOUS;
        input_.check(netcdf().inq_var_chunking(input_.id(), like_->id, &storage, chunks.data()));
        return storage == NC_CHUNKED ? chunks : std::vector<std::size_t>{};
    }
    bool unlimited = false;
    std::size_t values = 1;
    for (std::size_t d = chunks.size(); d-- > 0;) {
        if (input_.dimension(grid_.ids[d]).unlimited) {
            unlimited = true;
            continue;
        }
        chunks[d] = std::clamp<std::size_t>(grid_.sizes[d], 1, std::max<std::size_t>(kMaxInChunk / values, 1));
        values *= chunks[d];
    }
    return unlimited ? chunks : std::vector<std::size_t>{};
}

void NetcdfTransform::check_names() const {
    const auto check = [&](const std::string& name) {
        core::require(input_.find(name) == nullptr, "{} already has a variable '{}'; rename it or drop it",
                      display_name(input_.path()), printable(name));
    };
    bool has_quantiles = false;
    for (const AddedColumn& column : plan_.added) {
        if (std::isnan(column.probability))
            check(column.name);
        else
            has_quantiles = true;
    }
    if (!has_quantiles) return;
    check(kQuantiles);
    check(kQuantile);
    for (const auto& [id, dimension] : input_.dimensions())
        core::require(dimension.name != kQuantile, "{} already has a dimension '{}'; rename it",
                      display_name(input_.path()), kQuantile);
}

void NetcdfTransform::run() {
    AtomicFile file(output_);
    if (input_.is_hdf5()) copy_bytes(file);
    // A small file can have a large grid: whether the disk has room for it is known at once. HDF5 moreover crashes when
    // a write fails, and again at exit; it cuts the file to its length when it closes it. A classic file is cut when it
    // is created.
    file.reserve(largest_size());
    if (input_.is_hdf5()) {
        writer_.open(file.hand_over(), input_.path());
        // Only files of the classic model know a mode for definitions.
        if (input_.format() == NC_FORMAT_NETCDF4_CLASSIC) writer_(netcdf().redef);
    } else {
        writer_.create(file.hand_over(), NC_CLOBBER | classic_mode());
        copy_definitions();
    }
    define_added();
    put_history();
    if (!input_.is_hdf5()) {
        // Every value will be written, so filling first would be writing twice.
        int old = 0;
        writer_(netcdf().set_fill, NC_NOFILL, &old);
    }
    writer_(netcdf().enddef);
    if (!input_.is_hdf5()) copy_values();
    if (quantile_variable_ >= 0) {
        const std::size_t start = 0;
        const std::size_t count = probabilities_.size();
        writer_(netcdf().put_vara_double, quantile_variable_, &start, &count,
                static_cast<const double*>(probabilities_.data()));
    }
    add_rows();
    writer_.close();
    file.commit();
}

// CDF-1 counts bytes from the start of the file with 31 bits; CDF-2 has room for 2^32 bytes a variable, or a variable
// and record; CDF-5 for everything.
int NetcdfTransform::classic_mode() const {
    constexpr double kSlack = 1 << 20;  // headers, alignment
    const double records = grid_.ids.empty() || !input_.dimension(grid_.ids[0]).unlimited
                               ? 1.0
                               : std::max(1.0, static_cast<double>(grid_.sizes[0]));
    const double value_bytes = static_cast<double>(grid_.rows) * sizeof(double);
    const double quantiles = static_cast<double>(std::count_if(
        plan_.added.begin(), plan_.added.end(), [](const auto& c) { return !std::isnan(c.probability); }));
    const double total = static_cast<double>(std::filesystem::file_size(input_.path())) +
                         value_bytes * static_cast<double>(plan_.added.size()) + kSlack;
    const double largest = value_bytes * std::max(1.0, quantiles) / records + kSlack;
    if (input_.format() == NC_FORMAT_CLASSIC && total < 0x1p31) return 0;
    if (input_.format() != NC_FORMAT_CDF5 && largest < 0x1p32) return NC_64BIT_OFFSET;
    return NC_64BIT_DATA;
}

// A bound on the length of the new file: as if nothing could be compressed.
std::size_t NetcdfTransform::largest_size() const {
    constexpr double kSlack = 1 << 18;      // definitions, attributes
    constexpr double kChunkOverhead = 256;  // of the index, and of compressing what cannot be compressed
    double values = 1;
    double chunks = 1;
    for (std::size_t d = 0; d < grid_.sizes.size(); ++d) {
        const double chunk = chunks_.empty() ? 1 : static_cast<double>(std::max<std::size_t>(chunks_[d], 1));
        const double along = std::ceil(static_cast<double>(grid_.sizes[d]) / chunk);
        values *= along * chunk;  // chunks at the edge are as large as the others
        chunks *= chunks_.empty() ? 1 : along;
    }
    const double added = static_cast<double>(plan_.added.size());
    return static_cast<std::size_t>(static_cast<double>(std::filesystem::file_size(input_.path())) + kSlack +
                                    added * (values * sizeof(double) + chunks * kChunkOverhead));
}

void NetcdfTransform::copy_bytes(AtomicFile& file) const {
    InputFile from(input_.path());
    std::vector<char> buffer(std::size_t{1} << 20U);
    while (const std::size_t count = from.read(buffer.data(), buffer.size())) file.write({buffer.data(), count});
}

void NetcdfTransform::copy_definitions() const {
    const NetcdfLibrary& nc = netcdf();
    const auto copy_attributes = [&](int variable) {
        for (const std::string& name : input_.attribute_names(variable))
            writer_([&](int id) { return nc.copy_att(input_.id(), variable, name.c_str(), id, variable); });
    };
    // Ids are counted in the order of definition, in both files.
    for (const auto& [id, dimension] : input_.dimensions()) {
        int same = 0;
        writer_(nc.def_dim, dimension.name.c_str(), dimension.unlimited ? NC_UNLIMITED : dimension.size, &same);
    }
    copy_attributes(NC_GLOBAL);
    for (const NetcdfVariable& variable : input_.variables()) {
        int same = 0;
        writer_(nc.def_var, variable.name.c_str(), variable.type, static_cast<int>(variable.dimensions.size()),
                variable.dimensions.data(), &same);
        copy_attributes(variable.id);
    }
}

void NetcdfTransform::copy_values() const {
    const NetcdfLibrary& nc = netcdf();
    std::vector<char> buffer;
    for (const NetcdfVariable& variable : input_.variables()) {
        RowGrid grid;
        for (const int id : variable.dimensions) {
            grid.sizes.push_back(input_.dimension(id).size);
            grid.rows *= grid.sizes.back();
        }
        SlabWalk walk(grid, kSlabRows);
        for (Slab slab; walk.next(slab);) {
            buffer.resize(slab.rows * type_size(variable.type));
            input_.check(nc.get_vara(input_.id(), variable.id, slab.start.data(), slab.count.data(), buffer.data()),
                         fmt::format("variable '{}'", printable(variable.name)));
            writer_(nc.put_vara, variable.id, slab.start.data(), slab.count.data(),
                    static_cast<const void*>(buffer.data()));
        }
    }
}

void NetcdfTransform::define_added() {
    const NetcdfLibrary& nc = netcdf();
    quantile_place_ = !grid_.ids.empty() && input_.dimension(grid_.ids[0]).unlimited ? 1 : 0;
    for (const AddedColumn& column : plan_.added)
        if (!std::isnan(column.probability)) probabilities_.push_back(column.probability);
    int quantiles = -1;
    if (!probabilities_.empty()) {
        writer_(nc.def_dim, kQuantile, probabilities_.size(), &quantile_dimension_);
        writer_(nc.def_var, kQuantile, NC_DOUBLE, 1, static_cast<const int*>(&quantile_dimension_),
                &quantile_variable_);
        put_text(quantile_variable_, "long_name", "probability of a value at or below the quantile");
        put_text(quantile_variable_, "units", "1");
        const auto first = std::find_if(plan_.added.begin(), plan_.added.end(),
                                        [](const AddedColumn& column) { return !std::isnan(column.probability); });
        quantiles = define(kQuantiles, NC_DOUBLE, "quantiles of the forecast", first->has_units_of_rows, true);
    }
    std::size_t next = 0;
    for (const AddedColumn& column : plan_.added) {
        Target target{.variable = quantiles, .flag = column.flag, .quantile = std::nullopt};
        if (!std::isnan(column.probability)) {
            target.quantile = next++;
            target.flag = false;
        } else {
            target.variable = define(column.name, column.flag ? NC_BYTE : NC_DOUBLE, column.long_name,
                                     column.has_units_of_rows && !column.flag, false);
        }
        targets_.push_back(target);
    }
}

int NetcdfTransform::define(const std::string& name, nc_type type, const std::string& long_name, bool has_units,
                            bool along_quantile) {
    const NetcdfLibrary& nc = netcdf();
    std::vector<int> dimensions = grid_.ids;
    const auto place = static_cast<std::ptrdiff_t>(quantile_place_);
    if (along_quantile) dimensions.insert(dimensions.begin() + place, quantile_dimension_);
    int variable = -1;
    writer_(nc.def_var, name.c_str(), type, static_cast<int>(dimensions.size()),
            static_cast<const int*>(dimensions.data()), &variable);

    // Laid out and compressed like the variable that it belongs to.
    if (!chunks_.empty()) {
        std::vector<std::size_t> chunks = chunks_;
        if (along_quantile) chunks.insert(chunks.begin() + place, 1);
        writer_(nc.def_var_chunking, variable, NC_CHUNKED, static_cast<const std::size_t*>(chunks.data()));
        int shuffle = 0;
        int deflate = 0;
        int level = 0;
        if (like_ != nullptr) input_.check(nc.inq_var_deflate(input_.id(), like_->id, &shuffle, &deflate, &level));
        if (deflate != 0) writer_(nc.def_var_deflate, variable, shuffle, deflate, level);
    }

    if (type == NC_BYTE) {
        const signed char fill = NC_FILL_BYTE;
        const std::array<signed char, 2> flags = {0, 1};
        writer_(nc.put_att_schar, variable, "_FillValue", NC_BYTE, std::size_t{1}, &fill);
        writer_(nc.put_att_schar, variable, "flag_values", NC_BYTE, flags.size(), flags.data());
        put_text(variable, "flag_meanings", "no yes");
    } else {
        const double fill = NC_FILL_DOUBLE;
        writer_(nc.put_att_double, variable, "_FillValue", NC_DOUBLE, std::size_t{1}, &fill);
    }
    if (!long_name.empty()) put_text(variable, "long_name", long_name);
    if (like_ == nullptr) return variable;
    // An input tells nothing about the unit of what is predicted.
    if (has_units && like_->name == plan_.rows_of)
        if (const auto units = input_.text_attribute(like_->id, "units")) put_text(variable, "units", *units);
    // Where the rows lie on the earth, when their own dimensions do not say it.
    for (const char* attribute : {"coordinates", "grid_mapping"})
        if (const auto text = input_.text_attribute(like_->id, attribute)) put_text(variable, attribute, *text);
    return variable;
}

void NetcdfTransform::put_text(int variable, const char* name, const std::string& text) const {
    writer_(netcdf().put_att_text, variable, name, text.size(), text.c_str());
}

// The latest line comes first, as the conventions have it.
void NetcdfTransform::put_history() const {
    if (plan_.history.empty()) return;
    std::string history = fmt::format("{:%Y-%m-%dT%H:%M:%SZ} {}", fmt::gmtime(std::time(nullptr)), plan_.history);
    const std::string old = input_.text_attribute(NC_GLOBAL, "history").value_or("");
    if (!old.empty()) history += "\n" + old;
    put_text(NC_GLOBAL, "history", history);
}

void NetcdfTransform::keep_chunks_of_added(std::size_t cut) const {
    if (!input_.is_hdf5()) return;
    for (const Target& target : targets_) {
        std::vector<std::size_t> sizes = grid_.sizes;
        for (std::size_t d = 0; d < sizes.size() && d <= cut; ++d) sizes[d] = 0;
        if (target.quantile)
            sizes.insert(sizes.begin() + static_cast<std::ptrdiff_t>(quantile_place_), probabilities_.size());
        keep_chunks(writer_.id(), target.variable, target.flag ? NC_BYTE : NC_DOUBLE, sizes);
    }
}

void NetcdfTransform::add_rows() {
    SlabWalk walk(grid_, kSlabRows);
    for (const RowNumbers& column : columns_) column.keep_chunks(grid_, walk.cut());
    keep_chunks_of_added(walk.cut());
    const std::size_t most = std::min(kSlabRows, grid_.rows);
    Columns values(plan_.inputs.size(), most);
    Columns results(plan_.added.size(), most);
    std::size_t first = 0;  // row of the slab
    for (Slab slab; walk.next(slab);) {
        for (std::size_t c = 0; c < columns_.size(); ++c) {
            const std::span<double> column = values[c].first(slab.rows);
            if (plan_.inputs[c].kind == Kind::text) {
                read_codes(c, slab, column);
                continue;
            }
            columns_[c].read(slab, column);
            const auto bad = std::find_if(column.begin(), column.end(), [](double value) { return std::isinf(value); });
            if (bad != column.end()) columns_[c].check(slab, static_cast<std::size_t>(bad - column.begin()), *bad);
        }
        compute_slab(slab, first, values, results);
        write_slab(slab, results);
        first += slab.rows;
    }
}

void NetcdfTransform::read_codes(std::size_t c, const Slab& slab, std::span<double> column) {
    std::vector<std::uint32_t> elements(slab.rows);
    RowVariable& texts = columns_[c].texts();
    texts.read_labels(slab, elements);
    std::vector<double> codes;
    for (const std::string& label : texts.labels())
        codes.push_back(label.empty() ? std::numeric_limits<double>::quiet_NaN() : plan_.inputs[c].code(label));
    for (std::size_t i = 0; i < elements.size(); ++i) column[i] = codes[elements[i]];
}

void NetcdfTransform::compute_slab(const Slab& slab, std::size_t first, Columns& values, Columns& results) {
    core::for_blocks(slab.rows, kBlockRows, [&](std::size_t, std::size_t begin, std::size_t end) {
        const auto in = values.rows<const double>(begin, end);
        const auto out = results.rows<double>(begin, end);
        compute_(in, out, first + begin);
        for (std::size_t row = 0; row < end - begin; ++row) {
            bool missing = false;
            for (std::size_t c = 0; c < in.size(); ++c)
                missing = missing || (std::isnan(in[c][row]) && !plan_.inputs[c].may_be_missing);
            for (std::size_t c = 0; c < out.size(); ++c) {
                const double fill = targets_[c].flag ? NC_FILL_BYTE : NC_FILL_DOUBLE;
                if (missing || std::isnan(out[c][row])) out[c][row] = fill;
            }
        }
    });
}

void NetcdfTransform::write_slab(const Slab& slab, Columns& results) const {
    const NetcdfLibrary& nc = netcdf();
    std::vector<signed char> flags;
    for (std::size_t c = 0; c < targets_.size(); ++c) {
        const Target& target = targets_[c];
        std::vector<std::size_t> start = slab.start;
        std::vector<std::size_t> count = slab.count;
        if (target.quantile) {
            const auto place = static_cast<std::ptrdiff_t>(quantile_place_);
            start.insert(start.begin() + place, *target.quantile);
            count.insert(count.begin() + place, 1);
        }
        const std::span<const double> column = results[c].first(slab.rows);
        if (target.flag) {
            flags.assign(column.begin(), column.end());
            writer_(nc.put_vara_schar, target.variable, start.data(), count.data(),
                    static_cast<const signed char*>(flags.data()));
        } else {
            writer_(nc.put_vara_double, target.variable, start.data(), count.data(), column.data());
        }
    }
}

}  // namespace

void transform_netcdf(const std::vector<std::string>& files, const std::string& output, const TransformPlan& plan,
                      const ComputeRows& compute) {
    core::require(files.size() == 1, "NetCDF files are taken one at a time; {} were given", files.size());
    core::require(output != "-",
                  "{} is NetCDF, and so will be the output, which cannot go to standard output: name a file",
                  display_name(files.front()));
    NetcdfTransform(files.front(), output, plan, compute).run();
}

}  // namespace accrue::data
