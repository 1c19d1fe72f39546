// A pass over a JSON text that builds nothing. On valid JSON it sees what every parser sees; what it lets through
// otherwise (broken UTF-8, odd escapes) is left to the parser that comes after it.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/error.hpp"

namespace accrue::model_file {

enum class Kind : unsigned { object = 1, array = 2, text = 4, number = 8, integer = 16, boolean = 32, null = 64 };

// Calls of the handler, in the order of the text: open(kind, rest), close(kind), key(token), scalar(kind, token) and
// separator(',' or ':'). Tokens of keys and texts include their quotes; `rest` is the text behind the bracket. An
// integer is a number without point and exponent. Throws InputError with the place.
template <typename Handler>
class JsonScanner {
public:
    JsonScanner(std::string_view text, int max_depth, Handler& handler)
        : text_(text), max_depth_(max_depth), handler_(handler) {}

    void run() {
        value(0);
        blanks();
        if (at_ < text_.size()) fail();
    }

private:
    [[noreturn]] void fail() const { core::refuse("it is not JSON, or cut short (at byte {})", at_ + 1); }
    bool next_is(char c) const { return at_ < text_.size() && text_[at_] == c; }
    void expect(char c) {
        if (!next_is(c)) fail();
        ++at_;
    }
    void blanks() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
            ++at_;
    }
    bool next_is_digit() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
    void digits() {
        if (!next_is_digit()) fail();
        while (next_is_digit()) ++at_;
    }

    void value(int depth) {
        blanks();
        if (at_ >= text_.size()) fail();
        switch (text_[at_]) {
            case '{':
                return members(depth + 1);
            case '[':
                return elements(depth + 1);
            case '"':
                return handler_.scalar(Kind::text, string());
            case 't':
                return literal("true", Kind::boolean);
            case 'f':
                return literal("false", Kind::boolean);
            case 'n':
                return literal("null", Kind::null);
            default:
                return number();
        }
    }

    void open(Kind kind, int depth) {
        core::require(depth <= max_depth_, "it is nested too deeply");
        ++at_;
        handler_.open(kind, text_.substr(at_));
        blanks();
    }

    void members(int depth) {
        open(Kind::object, depth);
        for (bool first = true; !next_is('}'); first = false) {
            if (!first) separator(',');
            blanks();
            handler_.key(string());
            blanks();
            separator(':');
            value(depth);
            blanks();
        }
        ++at_;
        handler_.close(Kind::object);
    }

    void elements(int depth) {
        open(Kind::array, depth);
        for (bool first = true; !next_is(']'); first = false) {
            if (!first) separator(',');
            value(depth);
            blanks();
        }
        ++at_;
        handler_.close(Kind::array);
    }

    void separator(char c) {
        expect(c);
        handler_.separator(c);
    }

    std::string_view string() {
        const std::size_t begin = at_;
        expect('"');
        while (!next_is('"')) {
            if (at_ < text_.size() && text_[at_] == '\\') ++at_;
            if (at_ >= text_.size() || static_cast<unsigned char>(text_[at_]) < 0x20) fail();
            ++at_;
        }
        ++at_;
        return text_.substr(begin, at_ - begin);
    }

    void literal(std::string_view word, Kind kind) {
        if (text_.substr(at_, word.size()) != word) fail();
        at_ += word.size();
        handler_.scalar(kind, word);
    }

    void number() {
        const std::size_t begin = at_;
        Kind kind = Kind::integer;
        if (next_is('-')) ++at_;
        if (next_is('0'))
            ++at_;
        else
            digits();
        if (next_is('.')) {
            kind = Kind::number;
            ++at_;
            digits();
        }
        if (next_is('e') || next_is('E')) {
            kind = Kind::number;
            ++at_;
            if (next_is('+') || next_is('-')) ++at_;
            digits();
        }
        handler_.scalar(kind, text_.substr(begin, at_ - begin));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int max_depth_;
    Handler& handler_;
};

}  // namespace accrue::model_file
