// The NetCDF C library, loaded when the first NetCDF file is met (docs/decisions/0004): linked, it would cost every
// start of the program more than a small fit takes.
#pragma once

#include <netcdf.h>

#include <mutex>

namespace accrue::data {

// A function of the library. Every call holds the one lock: neither NetCDF nor HDF5 below it may be entered twice. The
// lock is held for a call and no longer, so no code of ours ever runs under it.
template <typename Function>
class LibraryCall;

std::mutex& netcdf_lock();

template <typename Result, typename... Args>
class LibraryCall<Result (*)(Args...)> {
public:
    Result operator()(Args... args) const {
        const std::lock_guard guard(netcdf_lock());
        return function_(args...);
    }
    void set(void* symbol) { function_ = reinterpret_cast<Result (*)(Args...)>(symbol); }

private:
    Result (*function_)(Args...) = nullptr;
};

// clang-format off
#define ACCRUE_NETCDF_FUNCTIONS(X) \
    X(close) X(copy_att) X(create) X(def_dim) X(def_var) X(def_var_chunking) X(def_var_deflate) X(enddef) \
    X(free_string) X(get_att_double) X(get_att_string) X(get_att_text) X(get_vara) X(get_vara_double) \
    X(get_vara_longlong) X(get_vara_string) X(get_vara_text) X(get_vara_ulonglong) X(inq_att) X(inq_attname) \
    X(inq_dim) X(inq_dimids) X(inq_format) X(inq_grpname) X(inq_grps) X(inq_natts) X(inq_nvars) X(inq_unlimdims) \
    X(inq_var) X(inq_var_chunking) X(inq_var_deflate) X(inq_varid) X(open) X(put_att_double) X(put_att_schar) \
    X(put_att_text) X(put_vara) X(put_vara_double) X(put_vara_schar) X(redef) X(set_fill) X(set_var_chunk_cache) \
    X(strerror)
// clang-format on

struct NetcdfLibrary {
#define ACCRUE_NETCDF_MEMBER(name) LibraryCall<decltype(&::nc_##name)> name;  // NOLINT(bugprone-macro-parentheses)
    ACCRUE_NETCDF_FUNCTIONS(ACCRUE_NETCDF_MEMBER)
#undef ACCRUE_NETCDF_MEMBER
};

// Loads the library at the first call. Throws MachineError where it is not installed.
const NetcdfLibrary& netcdf();

}  // namespace accrue::data
