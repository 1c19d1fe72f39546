// A NetCDF file that is open for reading: what is in it, and messages that name it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/netcdf_library.hpp"

namespace accrue::data {

struct NetcdfDimension {
    std::string name;
    std::size_t size = 0;
    bool unlimited = false;
};

struct NetcdfVariable {
    int id = 0;
    std::string name;
    nc_type type = NC_NAT;
    std::vector<int> dimensions;  // slowest first

    bool is_number() const { return type >= NC_BYTE && type <= NC_UINT64 && type != NC_CHAR; }
    bool is_text() const { return type == NC_CHAR || type == NC_STRING; }
};

// Whether the file begins like classic NetCDF (CDF-1, -2, -5) or HDF5. Pipes and "-" are not looked at, since looking
// would take their bytes away.
bool is_netcdf(const std::string& path);

// The bytes of one value of a basic numeric or character type.
std::size_t type_size(nc_type type);

// Top-level dimensions and variables; those in groups are only known to messages. Throws InputError when the file is
// not readable as NetCDF or ends too early: the library itself reads zeros behind the end of a classic file.
class NetcdfFile {
public:
    explicit NetcdfFile(std::string path);
    ~NetcdfFile();
    NetcdfFile(const NetcdfFile&) = delete;
    NetcdfFile& operator=(const NetcdfFile&) = delete;

    int id() const { return id_; }
    const std::string& path() const { return path_; }
    int format() const { return format_; }
    bool is_hdf5() const { return format_ == NC_FORMAT_NETCDF4 || format_ == NC_FORMAT_NETCDF4_CLASSIC; }
    const std::map<int, NetcdfDimension>& dimensions() const { return dimensions_; }  // by their ids
    const NetcdfDimension& dimension(int id) const { return dimensions_.at(id); }
    const std::vector<NetcdfVariable>& variables() const { return variables_; }
    std::vector<std::string> variable_names() const;

    // nullptr when there is none.
    const NetcdfVariable* find(const std::string& name) const;
    // Whether the name is that of a variable in a group, "group/y", and not y of the file itself.
    bool is_in_group(const std::string& name) const;
    // Throws InputError with the name that was probably meant, or the group that holds it.
    const NetcdfVariable& variable(const std::string& name) const;

    // Attributes of a variable, or of the file (NC_GLOBAL). A text is one whether stored as characters or as a string;
    // numbers are empty when the attribute is absent or a text.
    bool has_attribute(int variable, const char* name) const;
    nc_type attribute_type(int variable, const char* name) const;
    std::optional<std::string> text_attribute(int variable, const char* name) const;
    std::vector<double> number_attribute(int variable, const char* name) const;
    std::vector<std::string> attribute_names(int variable) const;

    // Throws InputError "cannot read archive.nc: variable 'y': ..." unless the library was content.
    void check(int status, const std::string& what = {}) const;

private:
    void read_contents();
    std::string group_with(int group, const std::string& name) const;

    std::string path_;
    int id_ = -1;
    int format_ = 0;
    std::uint64_t inode_ = 0;
    std::int64_t size_ = 0;  // in bytes, when it was opened
    std::map<int, NetcdfDimension> dimensions_;
    std::vector<NetcdfVariable> variables_;
};

}  // namespace accrue::data
