// Guards that throw accrue::InputError with a formatted message.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "accrue/error.hpp"

namespace accrue::core {

// An option that a message names, with a value where it means one.
inline OptionName option(std::string name) {
    return {std::move(name)};
}
inline OptionName option(std::string name, std::string word) {
    return {std::move(name), std::move(word), true};
}
inline OptionName option(std::string name, std::size_t number) {
    return {std::move(name), std::to_string(number)};
}

template <typename T>
inline constexpr bool kNamesOptions =
    std::is_same_v<std::remove_cvref_t<T>, OptionName> || std::is_same_v<std::remove_cvref_t<T>, Message>;

// A text whose arguments may be options, or messages that name some.
template <typename... Args>
using MessageText = fmt::format_string<std::conditional_t<kNamesOptions<Args>, std::string_view, Args>...>;

// The formatted text. Replacement fields that take options or messages are {}; around them there is no {{. Hidden,
// since the pattern in src/exports.map that covers public classes takes what a template returns for its name.
template <typename... Args>
[[gnu::visibility("hidden")]] Message message(MessageText<Args...> text, Args&&... args) {
    if constexpr (!(kNamesOptions<Args> || ...)) {
        return fmt::format(text, std::forward<Args>(args)...);
    } else {
        const fmt::string_view given = text;
        std::string_view rest(given.data(), given.size());
        Message made;
        const auto add = [&](const auto& argument) {
            const std::size_t field = rest.find('{');
            const std::size_t end = rest.find('}', field) + 1;
            made += std::string(rest.substr(0, field));
            if constexpr (kNamesOptions<decltype(argument)>)
                made += argument;
            else
                made += fmt::format(fmt::runtime(rest.substr(field, end - field)), argument);
            rest.remove_prefix(end);
        };
        (add(args), ...);
        made += std::string(rest);
        return made;
    }
}

// Throws InputError with the formatted message.
template <typename... Args>
[[noreturn]] void refuse(MessageText<Args...> text, Args&&... args) {
    if constexpr ((kNamesOptions<Args> || ...))
        throw InputError(message(text, std::forward<Args>(args)...));
    else
        throw InputError(fmt::format(text, std::forward<Args>(args)...));
}

// Throws InputError with the formatted message unless the rule holds.
template <typename... Args>
void require(bool rule, MessageText<Args...> text, Args&&... args) {
    if (!rule) [[unlikely]]
        refuse(text, std::forward<Args>(args)...);
}

// The text of the current errno value, thread safe: "No such file or directory".
std::string system_message(int error_number);

}  // namespace accrue::core
