// Some entries of a JSON text as values.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

namespace accrue::model_file {

// A value that takes little memory to destroy: nlohmann's destructor moves the elements of a list to a second one
// first, which may need twice their room.
struct Tree {
    nlohmann::ordered_json json;

    Tree() = default;
    Tree(Tree&&) = default;
    Tree& operator=(Tree&&) = delete;
    ~Tree();
};

// Those entries of the outermost object whose names are wanted, and nothing of the others. The text has passed
// check_schema. A list of numbers takes no more room than its elements need, and an object with many entries time
// linear in them; nlohmann's own parser lets lists grow to twice their size and searches an object at every entry.
// Throws InputError where a text in it is not UTF-8.
Tree tree(std::string_view text, const std::function<bool(std::string_view entry)>& wanted);

}  // namespace accrue::model_file
