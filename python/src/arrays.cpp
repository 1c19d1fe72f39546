#include "arrays.hpp"

#include <cstring>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace accrue::python {

int thread_limit = 0;

namespace {

// Found once, and kept for as long as the process lives: modules are not unloaded.
PyObject* numpy_empty() {
    static PyObject* const function = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
    return function;
}

PyTypeObject* numpy_array() {
    static PyObject* const type = nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr();
    return reinterpret_cast<PyTypeObject*>(type);
}

nb::object empty_array(PyObject* shape) {
    PyObject* const array = PyObject_CallOneArg(numpy_empty(), shape);
    if (array == nullptr) throw nb::python_error();
    return nb::steal(array);
}

}  // namespace

nb::object helper(const char* name) {
    return nb::module_::import_("accrue._arrays").attr(name);
}

Numbers::Numbers(nb::handle object) {
    if (PyFloat_Check(object.ptr())) {
        scalar_ = PyFloat_AS_DOUBLE(object.ptr());
    } else if (PyLong_CheckExact(object.ptr())) {
        scalar_ = PyLong_AsDouble(object.ptr());
        if (scalar_ == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    } else if (object.is_none()) {
        is_none_ = true;
    } else if (!view(object.ptr())) {
        const nb::object converted = helper("numbers")(object);
        if (PyFloat_Check(converted.ptr()))
            scalar_ = PyFloat_AS_DOUBLE(converted.ptr());
        else if (!view(converted.ptr()))
            throw nb::type_error("cannot be seen as an array of float64");
    }
}

Numbers::~Numbers() {
    if (has_view_) PyBuffer_Release(&view_);
}

Numbers::Numbers(Numbers&& other) noexcept
    : view_(other.view_),
      scalar_(other.scalar_),
      has_view_(std::exchange(other.has_view_, false)),
      is_none_(other.is_none_) {}

bool Numbers::view(PyObject* object) {
    // Not a subclass: the memory of a masked array does not tell what is missing.
    if (Py_TYPE(object) != numpy_array()) return false;
    if (PyObject_GetBuffer(object, &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
        PyErr_Clear();  // not contiguous: a copy will be
        return false;
    }
    // Native doubles only; an array without dimensions is a number, which helper("numbers") makes of it.
    has_view_ = view_.format != nullptr && std::strcmp(view_.format, "d") == 0 && view_.ndim > 0;
    if (!has_view_) PyBuffer_Release(&view_);
    return has_view_;
}

std::span<const double> Numbers::span() const {
    if (is_none_) return {};
    if (!has_view_) return {&scalar_, 1};
    return {static_cast<const double*>(view_.buf), static_cast<std::size_t>(view_.len) / sizeof(double)};
}

bool Numbers::has_shape_of(const Numbers& other) const {
    if (!has_view_ || !other.has_view_) return has_view_ == other.has_view_;
    if (view_.ndim != other.view_.ndim) return false;
    for (int k = 0; k < view_.ndim; ++k)
        if (view_.shape[k] != other.view_.shape[k]) return false;
    return true;
}

nb::object Numbers::empty_like() const {
    const auto dimensions = static_cast<Py_ssize_t>(has_view_ ? view_.ndim : 0);
    const nb::object shape = nb::steal(PyTuple_New(dimensions));
    for (Py_ssize_t k = 0; k < dimensions; ++k) PyTuple_SET_ITEM(shape.ptr(), k, PyLong_FromSsize_t(view_.shape[k]));
    return empty_array(shape.ptr());
}

Result::Result(std::size_t rows) : Result(empty_array(nb::steal(PyLong_FromSize_t(rows)).ptr())) {}

Result::Result(nb::object array) : array_(std::move(array)) {
    if (PyObject_GetBuffer(array_.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0) throw nb::python_error();
}

Result::~Result() {
    PyBuffer_Release(&view_);
}

nb::object to_array(std::span<const double> values) {
    Result result(values.size());
    std::copy(values.begin(), values.end(), result.span().begin());
    return result.take();
}

Columns::Columns(const nb::list& columns) {
    numbers.reserve(columns.size());
    for (const nb::handle column : columns) spans.push_back(numbers.emplace_back(column).span());
}

Groups::Groups(nb::handle pair) {
    if (pair.is_none()) return;
    const auto bytes = nb::cast<nb::bytes>(pair[0]);
    codes.resize(bytes.size() / sizeof(std::uint32_t));
    std::memcpy(codes.data(), bytes.c_str(), codes.size() * sizeof(std::uint32_t));
    labels = nb::cast<std::vector<std::string>>(pair[1]);
}

GroupedColumns::GroupedColumns(const nb::list& columns) {
    groups.reserve(nb::len(columns));  // spans point into them
    for (const nb::handle column : columns)
        list.push_back({nb::cast<std::string>(column[0]), groups.emplace_back(column[1]).grouping()});
}

}  // namespace accrue::python
