#include "data/netcdf_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

#include "accrue/messages.hpp"
#include "core/descriptors.hpp"
#include "core/error.hpp"
#include "data/file_start.hpp"
#include "data/netcdf_classic.hpp"

namespace accrue::data {

using namespace std::string_view_literals;

bool is_netcdf(const std::string& path) {
    const std::string start = start_of(path);
    constexpr std::array kMarks = {"CDF\001"sv, "CDF\002"sv, "CDF\005"sv, "\211HDF\r\n\032\n"sv};
    return std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) { return start.starts_with(mark); });
}

std::size_t type_size(nc_type type) {
    constexpr std::array<std::size_t, 12> kSizes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type > 0 && static_cast<std::size_t>(type) < kSizes.size() ? kSizes[static_cast<std::size_t>(type)]
                                                                      : sizeof(char*);
}

NetcdfFile::NetcdfFile(std::string path) : path_(std::move(path)) {
    const core::StandardDescriptors taken;
    struct stat state {};
    if (::stat(path_.c_str(), &state) == 0) {
        inode_ = state.st_ino;
        size_ = state.st_size;
    }
    if (start_of(path_).starts_with("CDF")) check_classic(path_);
    const int status = netcdf().open(path_.c_str(), NC_NOWRITE, &id_);
    if (status != NC_NOERR) id_ = -1;
    check(status);
    try {
        read_contents();
    } catch (...) {
        netcdf().close(id_);
        throw;
    }
}

NetcdfFile::~NetcdfFile() {
    netcdf().close(id_);
}

void NetcdfFile::read_contents() {
    const NetcdfLibrary& nc = netcdf();
    check(nc.inq_format(id_, &format_));
    int count = 0;
    check(nc.inq_dimids(id_, &count, nullptr, 0));
    std::vector<int> ids(static_cast<std::size_t>(count));
    check(nc.inq_dimids(id_, &count, ids.data(), 0));
    std::array<char, NC_MAX_NAME + 1> name{};
    for (const int id : ids) {
        std::size_t size = 0;
        check(nc.inq_dim(id_, id, name.data(), &size));
        dimensions_[id] = {name.data(), size, false};
    }
    check(nc.inq_unlimdims(id_, &count, nullptr));
    ids.resize(static_cast<std::size_t>(count));
    check(nc.inq_unlimdims(id_, &count, ids.data()));
    for (const int id : ids) dimensions_[id].unlimited = true;

    check(nc.inq_nvars(id_, &count));
    for (int id = 0; id < count; ++id) {
        NetcdfVariable variable{.id = id, .name = {}, .type = NC_NAT, .dimensions = {}};
        int dimensions = 0;
        check(nc.inq_var(id_, id, name.data(), &variable.type, &dimensions, nullptr, nullptr));
        variable.name = name.data();
        variable.dimensions.resize(static_cast<std::size_t>(dimensions));
        check(nc.inq_var(id_, id, nullptr, nullptr, nullptr, variable.dimensions.data(), nullptr));
        variables_.push_back(std::move(variable));
    }
}

std::vector<std::string> NetcdfFile::variable_names() const {
    std::vector<std::string> names;
    for (const NetcdfVariable& variable : variables_) names.push_back(variable.name);
    return names;
}

const NetcdfVariable* NetcdfFile::find(const std::string& name) const {
    const auto found =
        std::find_if(variables_.begin(), variables_.end(), [&](const NetcdfVariable& v) { return v.name == name; });
    return found == variables_.end() ? nullptr : &*found;
}

bool NetcdfFile::is_in_group(const std::string& name) const {
    const std::string last = name.substr(name.find_last_of('/') + 1);
    return last != name && find(last) == nullptr && !group_with(id_, last).empty();
}

const NetcdfVariable& NetcdfFile::variable(const std::string& name) const {
    if (const NetcdfVariable* found = find(name)) return *found;
    // "group/y" is how other tools write it.
    const std::string last = name.substr(name.find_last_of('/') + 1);
    if (const std::string group = group_with(id_, last); !group.empty())
        core::refuse("{} has its variable '{}' in the group '{}'; variables in groups are not read: move it to the top",
                     display_name(path_), printable(last), printable(group));
    const std::vector<std::string> names = variable_names();
    core::require(!names.empty(), "{} has no variable '{}': it has no variables at all", display_name(path_),
                  printable(name));
    const std::string meant = suggestion(name, names);
    core::refuse("{} has no variable '{}'{} Variables: {}", display_name(path_), printable(name),
                 meant.empty() ? "." : meant, name_list(names));
}

// The path of the group below `group` that has the variable; empty when none has.
std::string NetcdfFile::group_with(int group, const std::string& name) const {
    const NetcdfLibrary& nc = netcdf();
    int count = 0;
    if (nc.inq_grps(group, &count, nullptr) != NC_NOERR || count == 0) return {};
    std::vector<int> ids(static_cast<std::size_t>(count));
    check(nc.inq_grps(group, &count, ids.data()));
    for (const int id : ids) {
        std::array<char, NC_MAX_NAME + 1> title{};
        check(nc.inq_grpname(id, title.data()));
        int variable = 0;
        if (nc.inq_varid(id, name.c_str(), &variable) == NC_NOERR) return std::string("/") + title.data();
        if (const std::string below = group_with(id, name); !below.empty())
            return std::string("/") + title.data() + below;
    }
    return {};
}

bool NetcdfFile::has_attribute(int variable, const char* name) const {
    return attribute_type(variable, name) != NC_NAT;
}

nc_type NetcdfFile::attribute_type(int variable, const char* name) const {
    nc_type type = NC_NAT;
    const int status = netcdf().inq_att(id_, variable, name, &type, nullptr);
    if (status == NC_ENOTATT) return NC_NAT;
    check(status, fmt::format("attribute '{}'", printable(name)));
    return type;
}

std::optional<std::string> NetcdfFile::text_attribute(int variable, const char* name) const {
    const NetcdfLibrary& nc = netcdf();
    const nc_type type = attribute_type(variable, name);
    if (type != NC_CHAR && type != NC_STRING) return std::nullopt;
    const std::string what = fmt::format("attribute '{}'", printable(name));
    std::size_t length = 0;
    check(nc.inq_att(id_, variable, name, nullptr, &length), what);
    std::string text;
    if (type == NC_CHAR) {
        text.resize(length);
        if (length > 0) check(nc.get_att_text(id_, variable, name, text.data()), what);
        // C programs like to store the final zero as well.
        while (!text.empty() && text.back() == '\0') text.pop_back();
        return text;
    }
    std::vector<char*> strings(length);
    if (length > 0) check(nc.get_att_string(id_, variable, name, strings.data()), what);
    for (std::size_t i = 0; i < length; ++i) {
        if (i > 0) text += '\n';
        if (strings[i] != nullptr) text += strings[i];
    }
    if (length > 0) nc.free_string(length, strings.data());
    return text;
}

std::vector<double> NetcdfFile::number_attribute(int variable, const char* name) const {
    const nc_type type = attribute_type(variable, name);
    if (!(type >= NC_BYTE && type <= NC_UINT64) || type == NC_CHAR) return {};
    const std::string what = fmt::format("attribute '{}'", printable(name));
    std::size_t length = 0;
    check(netcdf().inq_att(id_, variable, name, nullptr, &length), what);
    std::vector<double> values(length);
    if (length > 0) check(netcdf().get_att_double(id_, variable, name, values.data()), what);
    return values;
}

std::vector<std::string> NetcdfFile::attribute_names(int variable) const {
    int count = 0;
    if (variable == NC_GLOBAL)
        check(netcdf().inq_natts(id_, &count));
    else
        check(netcdf().inq_var(id_, variable, nullptr, nullptr, nullptr, nullptr, &count));
    std::vector<std::string> names;
    for (int i = 0; i < count; ++i) {
        std::array<char, NC_MAX_NAME + 1> name{};
        check(netcdf().inq_attname(id_, variable, i, name.data()));
        names.emplace_back(name.data());
    }
    return names;
}

void NetcdfFile::check(int status, const std::string& what) const {
    if (status == NC_NOERR) {
        // The library fills what a classic file has lost since with zeros.
        struct stat now {};
        if (::stat(path_.c_str(), &now) == 0 && now.st_ino == inode_ && now.st_size < size_)
            core::refuse("{} changed while it was read: it had {} bytes, and now has {}", display_name(path_), size_,
                         now.st_size);
        return;
    }
    if (status == NC_ENOMEM) throw std::bad_alloc();
    // Positive numbers are the system's.
    std::string reason = status > 0 ? core::system_message(status) : netcdf().strerror(status);
    if (status == NC_EHDFERR) reason = "the file is damaged or cut short (HDF5 cannot read it)";
    core::refuse("cannot read {}: {}{}{}", display_name(path_), what, what.empty() ? "" : ": ", reason);
}

}  // namespace accrue::data
