// The values of NetCDF variables as rows: one for each place of a grid of named dimensions, the last running fastest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "accrue/message.hpp"
#include "data/computed_columns.hpp"
#include "data/missing_marks.hpp"
#include "data/netcdf_file.hpp"
#include "data/netcdf_values.hpp"

namespace accrue::data {

struct RowGrid {
    std::vector<int> ids;            // dimensions of the rows
    std::vector<std::size_t> sizes;  // theirs
    std::size_t rows = 1;            // of a scalar, one
};

// The grid that a variable spans. Throws InputError when a dimension is there twice.
RowGrid row_grid(const NetcdfFile& file, const NetcdfVariable& variable);

// A box of the grid whose rows follow one another.
struct Slab {
    std::vector<std::size_t> start;
    std::vector<std::size_t> count;
    std::size_t rows = 0;
};

// Cuts the grid into slabs of at most `max_rows` rows, in the order of rows.
class SlabWalk {
public:
    SlabWalk(const RowGrid& grid, std::size_t max_rows);
    // False when the grid is through.
    bool next(Slab& slab);
    // The dimension that is cut; those after it are whole in every slab, those before it single.
    std::size_t cut() const { return cut_; }

private:
    std::vector<std::size_t> sizes_;
    std::vector<std::size_t> position_;
    std::size_t cut_ = 0;
    std::size_t step_ = 1;
    bool done_ = false;
};

// NetCDF-4: makes room to keep the chunks that neighbouring slabs share, which would be unpacked, or packed, again for
// each. sizes: of the dimensions that are whole in every slab; 0 for the others.
void keep_chunks(int file, int variable, nc_type type, std::span<const std::size_t> sizes);

// A variable matched to the rows by the names of its dimensions: one that it lacks repeats its values, and their order
// does not matter. Throws InputError when the variable has a dimension that the rows lack, or holds what was not
// asked for.
class RowVariable {
public:
    RowVariable(const NetcdfFile& file, const NetcdfVariable& variable, const RowGrid& grid, Kind kind,
                const MissingMarks& marks);

    const NetcdfVariable& variable() const { return variable_; }
    // Whether its times are seconds since 1970, and not numbers of an unknown origin.
    bool is_dated() const { return variable_.is_text() || decoder_.is_dated(); }

    // For slabs that are cut along that dimension of the rows.
    void keep_chunks(const RowGrid& grid, std::size_t cut) const;

    // One value for each row of the slab, NaN where it is missing.
    void read_numbers(const Slab& slab, std::span<double> values);

    // The label of each row, as a place in labels(), which is valid until the next call. A missing one is empty.
    void read_labels(const Slab& slab, std::span<std::uint32_t> elements);
    const std::vector<std::string>& labels() const { return labels_; }

    // " at time=3, lat=10", in the variable's own dimensions, counted from 0; empty for a scalar.
    std::string place(const Slab& slab, std::size_t row) const;

private:
    bool select(const Slab& slab);
    template <typename Value, typename Source>
    void spread(const Slab& slab, const Source& source, std::span<Value> rows) const;
    void read_elements(std::span<double> values);
    void read_texts();
    void parse_times();

    const NetcdfFile& file_;
    const NetcdfVariable& variable_;
    ValueDecoder decoder_;
    ColumnMarks marks_;
    std::vector<double> marked_values_;  // as the variable's type has them
    std::vector<std::size_t> matched_;   // the rows' dimension for each of the variable's
    std::size_t text_length_ = 0;        // of a character array with a last dimension of its own
    bool same_as_rows_ = false;          // neither repeated nor turned

    // The part of the variable that belongs to the slab.
    std::vector<std::size_t> start_;
    std::vector<std::size_t> count_;
    std::size_t elements_ = 0;
    std::vector<double> buffer_;
    std::vector<std::string> labels_;
};

// What the variables that a column consists of span together: itself, or what it is computed from. Those of the one
// with the most dimensions come first; what the others add follows, an unlimited dimension leads. Throws InputError
// when there is no such variable.
NetcdfVariable spanned(const NetcdfFile& file, std::span<const std::string> columns);

// A column of numbers: a variable, or computed from some.
class RowNumbers {
public:
    RowNumbers(const NetcdfFile& file, const std::string& name, const RowGrid& grid, Kind kind, Rule rule,
               const MissingMarks& marks);

    bool is_dated() const { return !computed_ && variables_.front().is_dated(); }
    RowVariable& texts() { return variables_.front(); }  // where it is a column of texts
    void keep_chunks(const RowGrid& grid, std::size_t cut) const;
    // NaN where a value is missing, infinite where it is not finite.
    void read(const Slab& slab, std::span<double> values);
    // What is wrong with a row of the slab that was read last: "archive.nc variable 'y' at time=3: ...".
    [[noreturn]] void refuse_missing(const Slab& slab, std::size_t row) const;
    void check(const Slab& slab, std::size_t row, double value) const;

private:
    [[noreturn]] void refuse(const RowVariable& at, const Slab& slab, std::size_t row, const Message& what) const;

    const NetcdfFile& file_;
    Rule rule_;
    std::vector<RowVariable> variables_;  // itself, or the operands
    std::optional<ComputedColumn> computed_;
    std::vector<std::vector<double>> operands_;  // of the slab
};

}  // namespace accrue::data
