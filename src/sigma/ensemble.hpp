// Several fitted forms as one: the average of their log sigma.
#pragma once

#include "sigma/form.hpp"

namespace accrue::sigma {

struct Member {
    std::shared_ptr<const Form> form;
    std::vector<double> parameters;
};

// out[i - begin] = the mean over members of log sigma, each bounded to what is allowed. At least one member.
void log_sigma(std::span<const Member> members, const Columns& x, std::size_t begin, std::size_t end, double* out);

}  // namespace accrue::sigma
