// NumPy arrays in and out. NumPy is reached through the buffer protocol and two Python functions, found when they are
// first needed: this is quicker for a single row than any conversion of a whole argument list.
#pragma once

#include <nanobind/nanobind.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accrue/error.hpp"
#include "accrue/threads.hpp"
#include "accrue/verify.hpp"

namespace accrue::python {

namespace nb = nanobind;

// A function of accrue._arrays.
nb::object helper(const char* name);

// What a Python object holds, as doubles: in place where it is a contiguous array of float64, else a converted copy.
// None is an empty span. Throws a Python error where it holds no numbers.
class Numbers {
public:
    explicit Numbers(nb::handle object);
    ~Numbers();
    Numbers(const Numbers&) = delete;
    Numbers& operator=(const Numbers&) = delete;
    Numbers(Numbers&& other) noexcept;

    std::span<const double> span() const;
    operator std::span<const double>() const { return span(); }  // NOLINT: it stands for its values
    bool is_none() const { return is_none_; }
    bool is_scalar() const { return !has_view_ && !is_none_; }
    bool has_shape_of(const Numbers& other) const;
    // An array of the same shape to fill, or for a scalar its place.
    nb::object empty_like() const;

private:
    bool view(PyObject* object);

    Py_buffer view_{};
    double scalar_ = 0;
    bool has_view_ = false;
    bool is_none_ = false;
};

// A new array of float64 and its memory.
class Result {
public:
    explicit Result(std::size_t rows);
    explicit Result(nb::object array);
    ~Result();
    Result(const Result&) = delete;
    Result& operator=(const Result&) = delete;

    std::span<double> span() {
        return {static_cast<double*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(double)};
    }
    nb::object take() { return std::move(array_); }

private:
    nb::object array_;
    Py_buffer view_{};
};

nb::object to_array(std::span<const double> values);

// Numbers of a list of columns, and their spans.
struct Columns {
    explicit Columns(const nb::list& columns);
    std::vector<Numbers> numbers;
    std::vector<std::span<const double>> spans;
};

// Groups as accrue._arrays.codes makes them: None, or (codes as bytes of uint32, labels).
struct Groups {
    explicit Groups(nb::handle pair);
    Grouping grouping() const { return {codes, labels}; }
    std::vector<std::uint32_t> codes;
    std::vector<std::string> labels;
};

// A list of (name, groups), columns for whose values there are figures.
struct GroupedColumns {
    explicit GroupedColumns(const nb::list& columns);
    std::vector<Groups> groups;
    std::vector<ColumnGrouping> list;
};

// 0: all threads of the machine. Changed under the GIL only.
extern int thread_limit;

// Runs the work while other Python threads run too, on as many threads as were asked for.
template <typename Work>
void without_gil(Work&& work) {
    const int threads = thread_limit;
    const nb::gil_scoped_release release;
    if (threads > 0)
        with_threads(threads, work);
    else
        work();
}

// Runs the work on the file of this path; where that fails for a reason of the system, it is Python's own error, with
// errno and path.
template <typename Work>
void with_file(const std::string& path, Work&& work) {
    try {
        without_gil(work);
    } catch (const Error& error) {
        if (error.error_number() == 0) throw;
        errno = error.error_number();
        PyErr_SetFromErrnoWithFilename(PyExc_OSError, path.c_str());
        throw nb::python_error();
    }
}

}  // namespace accrue::python
