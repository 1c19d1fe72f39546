// Texts for people that may name options. The command takes --bias linear, Python bias="linear": a message keeps such
// names apart from its other words, and each face of accrue writes them its own way when it shows the message.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace accrue {

// An option that a text names, with a value where the text means one.
struct OptionName {
    std::string name;          // as in Python and in configurations: fold_group
    std::string value = {};    // isotonic, 3
    bool is_word = false;      // the value is a word, which some faces quote
    std::string command = {};  // what the command calls it; empty: --fold-group

    bool operator==(const OptionName&) const = default;
};

// --fold-group, --recalibrate isotonic
inline std::string in_command(const OptionName& option) {
    std::string text = option.command;
    if (text.empty()) {
        text = "--" + option.name;
        std::replace(text.begin(), text.end(), '_', '-');
    }
    return option.value.empty() ? text : text + ' ' + option.value;
}

class Message {
public:
    Message() = default;
    Message(std::string words) { *this += std::move(words); }
    Message(const char* words) : Message(std::string(words)) {}

    Message& operator+=(std::string words) {
        parts_.push_back({std::move(words), {}});
        return *this;
    }
    Message& operator+=(OptionName option) {
        parts_.push_back({{}, std::move(option)});
        return *this;
    }
    Message& operator+=(const Message& other) {
        parts_.insert(parts_.end(), other.parts_.begin(), other.parts_.end());
        return *this;
    }

    // With options as `write` writes them. Documents (model files, pages, JSON) have the command's words, whoever
    // makes them.
    std::string text(std::string (*write)(const OptionName&) = in_command) const {
        std::string all;
        for (const Part& part : parts_) all += part.option.name.empty() ? part.words : write(part.option);
        return all;
    }

    bool operator==(const Message&) const = default;

private:
    struct Part {
        std::string words;
        OptionName option;  // without a name: it is words
        bool operator==(const Part&) const = default;
    };
    std::vector<Part> parts_;
};

// For nlohmann::json.
template <typename Json>
void to_json(Json& json, const Message& message) {
    json = message.text();
}

}  // namespace accrue
