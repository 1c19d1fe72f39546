#include "forecast/model_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <vector>

#include "accrue/messages.hpp"
#include "core/error.hpp"
#include "forecast/json_scanner.hpp"

// The assembler puts the file into the library as it is.
// clang-format off
asm(".pushsection .rodata\n"
    ".global accrue_model_schema_begin\n.hidden accrue_model_schema_begin\n"
    ".global accrue_model_schema_end\n.hidden accrue_model_schema_end\n"
    "accrue_model_schema_begin:\n.incbin \"" ACCRUE_MODEL_SCHEMA "\"\n"
    "accrue_model_schema_end:\n.byte 0\n.popsection\n");
// clang-format on
extern "C" const char accrue_model_schema_begin[];
extern "C" const char accrue_model_schema_end[];

namespace accrue::model_file {

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned bit(Kind kind) {
    return static_cast<unsigned>(kind);
}

// What a JSON string says.
std::string decoded(std::string_view token) {
    if (token.find('\\') == std::string_view::npos) return std::string(token.substr(1, token.size() - 2));
    const Json text = Json::parse(token, nullptr, false);
    core::require(text.is_string(), "it is not JSON: {} is not a text", printable(token));
    return text.get<std::string>();
}

// Hashes everything but blanks and the checksum, and takes down three entries.
class Outliner {
public:
    explicit Outliner(std::size_t max_values) : max_values_(max_values) {}
    void open(Kind kind, std::string_view) {
        count_value();
        ++depth_;
        hash(kind == Kind::object ? "{" : "[");
        if (depth_ == 1) is_object_ = kind == Kind::object;
    }
    void close(Kind kind) {
        hash(kind == Kind::object ? "}" : "]");
        if (--depth_ == 1) skipped_ = false;
    }
    void key(std::string_view token) {
        if (depth_ == 1) {
            const std::string name = token.size() <= kLongest ? decoded(token) : "";
            wanted_ = name == "format"           ? &found.format
                      : name == "format_version" ? &found.format_version
                      : name == "checksum"       ? &found.checksum
                                                 : nullptr;
            skipped_ = name == "checksum";
            if (!skipped_ && std::exchange(has_entry_, true)) hash(",");
        }
        hash(token);
    }
    void scalar(Kind, std::string_view token) {
        count_value();
        hash(token);
        if (depth_ != 1 || !is_object_) return;
        if (wanted_ != nullptr) *wanted_ = token.substr(0, kLongest);
        skipped_ = false;
    }
    void separator(char c) {
        // Before an entry of the whole object it is hashed with the entry.
        if (depth_ > 1 || c == ':' || !is_object_) hash({&c, 1});
    }
    std::string sum() const { return fmt::format("{:016x}", sum_); }

    Outline found;

private:
    static constexpr std::size_t kLongest = 100;  // of the keys and values that are looked at

    void count_value() {
        core::require(++values_ <= max_values_, "it has more than {} values, which its size does not bear out",
                      max_values_);
    }

    void hash(std::string_view text) {
        if (skipped_) return;
        std::uint64_t sum = sum_;
        for (const char c : text) {
            sum ^= static_cast<unsigned char>(c);
            sum *= 0x100000001b3ULL;
        }
        sum_ = sum;
    }

    std::uint64_t sum_ = 0xcbf29ce484222325ULL;
    const std::size_t max_values_;
    std::size_t values_ = 0;
    int depth_ = 0;
    bool is_object_ = false;
    bool has_entry_ = false;
    bool skipped_ = false;
    std::string* wanted_ = nullptr;
};

// A rule of the schema, ready for use.
struct Rule {
    unsigned kinds = 0;              // that are allowed; 0: all
    std::vector<std::string> words;  // const or enum
    std::map<std::string, const Rule*, std::less<>> properties;
    std::vector<std::string> required;
    bool open = true;  // additionalProperties
    const Rule* items = nullptr;
    std::size_t min_items = 0;
    std::size_t max_items = std::numeric_limits<std::size_t>::max();
    std::optional<double> minimum, exclusive_minimum, maximum;
    std::size_t max_length = std::numeric_limits<std::size_t>::max();
};

class Schema {
public:
    explicit Schema(std::string_view text) : source_(Json::parse(text)), root_(rule(source_)) {}
    const Rule& root() const { return *root_; }

private:
    static unsigned kind_named(const std::string& name) {
        static const std::map<std::string, unsigned> kKinds = {
            {"object", bit(Kind::object)},   {"array", bit(Kind::array)},
            {"string", bit(Kind::text)},     {"number", bit(Kind::number) | bit(Kind::integer)},
            {"integer", bit(Kind::integer)}, {"boolean", bit(Kind::boolean)},
            {"null", bit(Kind::null)}};
        return kKinds.at(name);
    }

    const Rule* rule(const Json& json) {
        if (json.contains("$ref")) {
            const std::string place = json.at("$ref").get<std::string>().substr(1);
            if (const auto known = named_.find(place); known != named_.end()) return known->second;
            rules_.push_back(std::make_unique<Rule>());
            named_[place] = rules_.back().get();  // before it is filled: it may name itself
            fill(*named_[place], source_.at(Json::json_pointer(place)));
            return named_[place];
        }
        rules_.push_back(std::make_unique<Rule>());
        Rule& own = *rules_.back();
        fill(own, json);
        return &own;
    }

    void fill(Rule& own, const Json& json) {
        if (json.contains("type")) {
            const Json& type = json.at("type");
            for (const Json& name : type.is_array() ? type : Json::array({type})) own.kinds |= kind_named(name);
        }
        if (json.contains("const")) own.words = {json.at("const").get<std::string>()};
        if (json.contains("enum")) own.words = json.at("enum").get<std::vector<std::string>>();
        if (!own.words.empty()) own.kinds = bit(Kind::text);
        if (json.contains("properties"))
            for (const auto& [key, value] : json.at("properties").items()) own.properties[key] = rule(value);
        own.required = json.value("required", std::vector<std::string>());
        own.open = json.value("additionalProperties", true);
        if (json.contains("items")) own.items = rule(json.at("items"));
        own.min_items = json.value("minItems", own.min_items);
        own.max_items = json.value("maxItems", own.max_items);
        own.max_length = json.value("maxLength", own.max_length);
        const auto number = [&](const char* key, std::optional<double>& place) {
            if (json.contains(key)) place = json.at(key).get<double>();
        };
        number("minimum", own.minimum);
        number("exclusiveMinimum", own.exclusive_minimum);
        number("maximum", own.maximum);
    }

    Json source_;
    std::vector<std::unique_ptr<Rule>> rules_;
    std::map<std::string, Rule*> named_;
    const Rule* root_;
};

const char* name_of(Kind kind) {
    switch (kind) {
        case Kind::object:
            return "an object";
        case Kind::array:
            return "a list";
        case Kind::text:
            return "a text";
        case Kind::number:
            return "a number";
        case Kind::integer:
            return "a whole number";
        case Kind::boolean:
            return "true or false";
        default:
            return "null";
    }
}

std::string names_of(unsigned kinds) {
    std::string names;
    // Every number may be whole.
    if ((kinds & bit(Kind::number)) != 0) kinds &= ~bit(Kind::integer);
    for (const Kind kind :
         {Kind::object, Kind::array, Kind::text, Kind::number, Kind::integer, Kind::boolean, Kind::null})
        if ((kinds & bit(kind)) != 0) names += (names.empty() ? "" : " or ") + std::string(name_of(kind));
    return names;
}

class SchemaCheck {
public:
    explicit SchemaCheck(const Rule& root) : root_(root) {}

    void open(Kind kind, std::string_view) {
        const Rule* rule = expected();
        check_kind(rule, kind);
        levels_.push_back({.kind = kind, .rule = rule});
    }

    void close(Kind kind) {
        const Level level = std::move(levels_.back());
        levels_.pop_back();
        if (level.rule == nullptr) return;
        if (kind == Kind::array) {
            if (level.count < level.rule->min_items)
                core::refuse("its entry '{}' has {}, but must have at least {}", place(),
                             counted(level.count, "element"), level.rule->min_items);
            return;
        }
        for (const std::string& name : level.rule->required)
            if (!level.seen.contains(name)) core::refuse("its entry '{}' is missing", within(name));
    }

    void key(std::string_view token) {
        Level& level = levels_.back();
        core::require(token.size() <= kLongestKey, "it has a key of {} bytes", token.size());
        level.key = decoded(token);
        level.next = nullptr;
        if (!level.seen.insert(level.key).second) core::refuse("its entry '{}' stands there twice", place());
        if (level.rule == nullptr) return;
        const auto known = level.rule->properties.find(level.key);
        if (known != level.rule->properties.end())
            level.next = known->second;
        else if (!level.rule->open)
            core::refuse("its entry '{}' is unknown", place());
    }

    void scalar(Kind kind, std::string_view token) {
        const Rule* rule = expected();
        if (kind == Kind::number || kind == Kind::integer) check_number(rule, kind, token);
        check_kind(rule, kind);
        if (rule == nullptr || kind != Kind::text) return;
        if (token.size() - 2 > rule->max_length)
            core::refuse("its entry '{}' is longer than {} bytes", place(), rule->max_length);
        if (rule->words.empty()) return;
        const std::string word = token.size() <= kLongestKey ? decoded(token) : std::string(token);
        if (std::find(rule->words.begin(), rule->words.end(), word) == rule->words.end())
            core::refuse("its entry '{}' is '{}', but must be {}{}", place(), printable(word),
                         rule->words.size() > 1 ? "one of " : "", name_list(rule->words));
    }

    void separator(char) {}

private:
    static constexpr std::size_t kLongestKey = 1000;

    struct Level {
        Kind kind = Kind::object;
        const Rule* rule = nullptr;  // null: anything
        std::set<std::string, std::less<>> seen = {};
        std::string key = {};
        const Rule* next = nullptr;  // of the key's value
        std::size_t count = 0;       // of elements
    };

    const Rule* expected() {
        if (levels_.empty()) return &root_;
        Level& level = levels_.back();
        const Rule* rule = level.next;
        if (level.kind == Kind::array) {
            ++level.count;
            if (level.rule != nullptr) {
                if (level.count > level.rule->max_items)
                    core::refuse("its entry '{}' has more than {} elements", place(levels_.size() - 1),
                                 level.rule->max_items);
                rule = level.rule->items;
            }
        }
        if (rule == nullptr)
            core::require(++unknown_ <= kMaxUnknownValues, "it has more than {} values in entries that are unknown",
                          kMaxUnknownValues);
        return rule;
    }

    void check_kind(const Rule* rule, Kind kind) const {
        if (rule == nullptr || rule->kinds == 0 || (rule->kinds & bit(kind)) != 0) return;
        core::refuse("its entry '{}' is {}, but must be {}", place(), name_of(kind), names_of(rule->kinds));
    }

    void check_number(const Rule* rule, Kind kind, std::string_view token) const {
        const auto refuse = [&](std::string_view why, double bound) {
            core::refuse("its entry '{}' is {}{}{}", place(), token.substr(0, 40), why,
                         std::isnan(bound) ? "" : fmt::format("{}", bound));
        };
        constexpr double kNoBound = std::numeric_limits<double>::quiet_NaN();
        double value = 0;
        const char* end = token.data() + token.size();
        const auto read = std::from_chars(token.data(), end, value);
        if (read.ec != std::errc{} && !is_tiny(token)) refuse(", which is too large", kNoBound);
        // Any number may be written without a point, but what must be whole must fit.
        if (kind == Kind::integer && (rule == nullptr || (rule->kinds & bit(Kind::number)) == 0)) {
            std::int64_t negative = 0;
            std::uint64_t positive = 0;
            const bool fits = token.front() == '-' ? std::from_chars(token.data(), end, negative).ec == std::errc{}
                                                   : std::from_chars(token.data(), end, positive).ec == std::errc{};
            if (!fits) refuse(", which is too large", kNoBound);
        }
        if (rule == nullptr) return;
        if (rule->minimum && value < *rule->minimum) refuse(", but must be at least ", *rule->minimum);
        if (rule->maximum && value > *rule->maximum) refuse(", but must be at most ", *rule->maximum);
        if (rule->exclusive_minimum && !(value > *rule->exclusive_minimum))
            refuse(", but must be above ", *rule->exclusive_minimum);
    }

    // Of a number beyond the range of doubles: whether it is too small, which reads as 0, and not too large.
    static bool is_tiny(std::string_view token) {
        const std::size_t exponent = token.find_first_of("eE");
        if (exponent != std::string_view::npos) return token.substr(exponent + 1, 1) == "-";
        return token.starts_with("0.") || token.starts_with("-0.");
    }

    // "fit.starts[2].skill": the value that the scanner is at, within the outermost levels.
    std::string place() const { return place(levels_.size()); }
    std::string place(std::size_t levels) const {
        std::string path;
        for (std::size_t i = 0; i < levels; ++i) {
            const Level& level = levels_[i];
            if (level.kind == Kind::array)
                path += fmt::format("[{}]", level.count == 0 ? 0 : level.count - 1);
            else
                path += fmt::format("{}{}", path.empty() ? "" : ".", printable(level.key));
        }
        return path.empty() ? "the model" : path;
    }
    std::string within(const std::string& name) const {
        return levels_.empty() ? name : fmt::format("{}.{}", place(), name);
    }

    const Rule& root_;
    std::vector<Level> levels_;
    std::size_t unknown_ = 0;
};

}  // namespace

std::string_view schema_text() {
    return {accrue_model_schema_begin, accrue_model_schema_end};
}

Outline outline(std::string_view text) {
    Outliner outliner(max_values(text.size()));
    JsonScanner(text, kMaxDepth, outliner).run();
    Outline found = std::move(outliner.found);
    found.true_checksum = outliner.sum();
    return found;
}

void check_schema(std::string_view text) {
    static const Schema schema(schema_text());
    SchemaCheck check(schema.root());
    JsonScanner(text, kMaxDepth, check).run();
}

}  // namespace accrue::model_file
