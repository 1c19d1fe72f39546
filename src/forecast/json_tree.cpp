#include "forecast/json_tree.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "forecast/json_scanner.hpp"
#include "forecast/model_schema.hpp"

namespace accrue::model_file {

namespace {

using Json = nlohmann::ordered_json;

// Of the list that the text begins in, where it holds numbers only; else 0.
std::size_t count_numbers(std::string_view rest) {
    const std::size_t end = rest.find_first_of("[]{}\"");
    if (end == std::string_view::npos || rest[end] != ']') return 0;
    return 1 + static_cast<std::size_t>(std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end), ','));
}

// Takes the elements out of all lists in it.
void empty_lists(Json& value) {
    if (!value.is_structured()) return;
    for (Json& part : value) empty_lists(part);
    if (value.is_array()) value.get_ref<Json::array_t&>() = {};
}

class TreeBuilder {
public:
    TreeBuilder(std::string_view text, const std::function<bool(std::string_view)>& wanted, Json& root)
        : text_(text), wanted_(wanted), root_(root) {}

    void open(Kind kind, std::string_view rest) {
        ++depth_;
        if (skipped_) return;
        Json& value = add(kind == Kind::object ? Json::object() : Json::array());
        if (kind == Kind::array) value.get_ref<Json::array_t&>().reserve(count_numbers(rest));
        open_.push_back(&value);
    }
    void close(Kind) {
        --depth_;
        if (!skipped_) open_.pop_back();
    }
    void key(std::string_view token) {
        if (depth_ > 1 && skipped_) return;
        key_ = parsed(token).get<std::string>();
        if (depth_ == 1) skipped_ = !wanted_(key_);
    }
    void scalar(Kind kind, std::string_view token) {
        if (!skipped_) add(kind == Kind::number || kind == Kind::integer ? number(kind, token) : parsed(token));
    }
    void separator(char) {}

private:
    // Only the innermost value that is open grows, so the others stay where they are.
    Json& add(Json value) {
        if (open_.empty()) return root_ = std::move(value);
        Json& parent = *open_.back();
        if (parent.is_array()) return parent.emplace_back(std::move(value));
        Json::object_t::Container& entries = parent.get_ref<Json::object_t&>();
        return entries.emplace_back(std::move(key_), std::move(value)).second;
    }

    Json number(Kind kind, std::string_view token) const {
        const auto read = [&](auto value) {
            const char* end = token.data() + token.size();
            // Too large for the type or too small for any: as the parser has it.
            return std::from_chars(token.data(), end, value).ec == std::errc{} ? Json(value) : parsed(token);
        };
        if (kind == Kind::number) return read(0.0);
        return token.front() == '-' ? read(std::int64_t{0}) : read(std::uint64_t{0});
    }

    Json parsed(std::string_view token) const {
        try {
            return Json::parse(token);
        } catch (const Json::parse_error& error) {
            core::refuse("it is not JSON, or cut short (at byte {})",
                         static_cast<std::size_t>(token.data() - text_.data()) + error.byte);
        }
    }

    std::string_view text_;
    const std::function<bool(std::string_view)>& wanted_;
    Json& root_;
    std::vector<Json*> open_;
    std::string key_;  // of the next value, in an object
    int depth_ = 0;
    bool skipped_ = false;  // the entry of the outermost object
};

}  // namespace

Tree::~Tree() {
    empty_lists(json);
}

Tree tree(std::string_view text, const std::function<bool(std::string_view entry)>& wanted) {
    Tree made;
    TreeBuilder builder(text, wanted, made.json);
    JsonScanner(text, kMaxDepth, builder).run();
    return made;
}

}  // namespace accrue::model_file
