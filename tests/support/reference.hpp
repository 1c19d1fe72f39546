// Reads the tables of reference/ for the tests; reference/README.md says what they hold and how exact they are.
//
// Inputs are exact doubles (hex floats). Results are decimals of 25 digits and come back as long double, so that a test
// can measure an error well below an ulp of a double where long double is wider than double (x86-64: 64 bits of
// mantissa). Every reader throws std::runtime_error with file, line and rule: a damaged table must not pass as a short
// one. The number format is that of the C locale, in which test programs start.

#ifndef ACCRUE_TESTS_SUPPORT_REFERENCE_HPP
#define ACCRUE_TESTS_SUPPORT_REFERENCE_HPP

#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/places.hpp"

namespace accrue::support {

// scores.csv. nlpd and nlpd_slope are +-infinity where the exact value exceeds the largest double.
struct ScoreRow {
    double error;
    double sigma;
    long double crps;
    long double crps_slope;
    long double nlpd;
    long double nlpd_slope;
};

// reliability.json, "cases". `weights` is empty for equal weights and otherwise not normalised.
struct ReliabilityCase {
    std::string name;
    std::vector<double> errors;
    std::vector<double> sigmas;
    std::vector<double> weights;
    long double rs;                   // with its constant: the integral itself
    long double rs_without_constant;  // rs + sqrt(2/pi)/2
    long double rs_floor;             // sqrt(2/pi)/2 / n_eff
    long double n_eff;                // (sum w)^2 / sum w^2
    long double mean_crps;            // weighted
    long double mean_nlpd;            // weighted
};

// reliability.json, "rs_min".
struct RsMinRow {
    std::size_t n;
    long double with_constant;
    long double without_constant;
};

// reliability.json, "beta". rs_min is the one without the constant.
struct BetaCase {
    std::string name;
    std::vector<double> errors;
    long double crps_min;
    long double rs_min;
    long double beta;
};

// reliability.json, "best_constant_sigma": the sigma that minimises the mean CRPS, and that mean. sigma is 0 where the
// minimum is the limit sigma -> 0.
struct ConstantSigmaCase {
    std::string name;
    std::vector<double> errors;
    std::vector<double> weights;
    long double sigma;
    long double mean_crps;
};

// kolmogorov.csv: probability = P(D_n <= d), complement = 1 - probability with digits of its own.
struct KolmogorovRow {
    std::size_t n;
    double d;
    long double probability;
    long double complement;
};

// kolmogorov_median.csv.
struct KolmogorovMedian {
    std::size_t n;
    long double median;
};

// families.csv. A value is NaN where no double holds it; slopes are by the further parameters.
struct FamilyRow {
    std::string family;
    double u;
    std::vector<double> further;
    double cdf, survival, log_pdf, crps, normal_score, score_slope;
    std::vector<double> score_slopes, crps_slopes, log_pdf_slopes;
};

// family_moments.csv.
struct FamilyMoments {
    std::string family;
    std::vector<double> further;
    double mean, sd;
};

namespace detail {

inline std::string reference_path(std::string_view file) {
    return in_source("reference/" + std::string(file));
}

template <class Number, class Convert>
Number parse_whole(const std::string& text, const std::string& place, Convert convert) {
    char* end = nullptr;
    const Number value = convert(text.c_str(), &end);
    if (text.empty() || end != text.c_str() + text.size()) {
        throw std::runtime_error(place + ": '" + text + "' is not a number");
    }
    return value;
}

inline double parse_double(const std::string& text, const std::string& place) {
    return parse_whole<double>(text, place, [](const char* s, char** end) { return std::strtod(s, end); });
}

inline long double parse_long_double(const std::string& text, const std::string& place) {
    return parse_whole<long double>(text, place, [](const char* s, char** end) { return std::strtold(s, end); });
}

inline std::size_t parse_count(const std::string& text, const std::string& place) {
    return parse_whole<std::size_t>(
        text, place, [](const char* s, char** end) { return static_cast<std::size_t>(std::strtoull(s, end, 10)); });
}

inline std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t comma = line.find(',', begin);
        fields.push_back(line.substr(begin, comma - begin));
        if (comma == std::string::npos) return fields;
        begin = comma + 1;
    }
}

// make_row(fields, place) for every line below the header, which must be `header` to the letter.
template <class Row, class MakeRow>
std::vector<Row> read_csv(std::string_view file, std::string_view header, MakeRow make_row) {
    const std::string path = reference_path(file);
    std::ifstream in(path);
    std::string line;
    if (!std::getline(in, line)) throw std::runtime_error(path + ": cannot be read or is empty");
    if (line != header) throw std::runtime_error(path + " line 1: the header must be " + std::string(header));
    const std::size_t columns = split(line).size();
    std::vector<Row> rows;
    for (std::size_t number = 2; std::getline(in, line); ++number) {
        const std::string place = path + " line " + std::to_string(number);
        const std::vector<std::string> fields = split(line);
        if (fields.size() != columns) {
            throw std::runtime_error(place + ": " + std::to_string(fields.size()) + " fields, but must be " +
                                     std::to_string(columns));
        }
        rows.push_back(make_row(fields, place));
    }
    if (rows.empty()) throw std::runtime_error(path + ": no rows below the header");
    return rows;
}

inline long double number_at(const nlohmann::json& object, const char* key) {
    return parse_long_double(object.at(key).get<std::string>(), key);
}

inline std::vector<double> doubles_at(const nlohmann::json& object, const char* key) {
    std::vector<double> values;
    for (const nlohmann::json& text : object.at(key)) values.push_back(parse_double(text.get<std::string>(), key));
    return values;
}

// make_row(object) for every entry of the list `section` of reliability.json.
template <class Row, class MakeRow>
std::vector<Row> read_section(const char* section, MakeRow make_row) {
    const std::string path = reference_path("reliability.json");
    std::ifstream in(path);
    if (!in) throw std::runtime_error(path + ": cannot be read");
    std::vector<Row> rows;
    try {
        const nlohmann::json document = nlohmann::json::parse(in);
        for (const nlohmann::json& object : document.at(section)) rows.push_back(make_row(object));
    } catch (const std::exception& error) {
        throw std::runtime_error(path + ", '" + section + "' entry " + std::to_string(rows.size()) + ": " +
                                 error.what());
    }
    if (rows.empty()) throw std::runtime_error(path + ": '" + section + "' is empty");
    return rows;
}

}  // namespace detail

inline std::vector<ScoreRow> read_scores() {
    return detail::read_csv<ScoreRow>(
        "scores.csv", "error,sigma,crps,crps_slope,nlpd,nlpd_slope",
        [](const std::vector<std::string>& f, const std::string& place) {
            return ScoreRow{detail::parse_double(f[0], place),      detail::parse_double(f[1], place),
                            detail::parse_long_double(f[2], place), detail::parse_long_double(f[3], place),
                            detail::parse_long_double(f[4], place), detail::parse_long_double(f[5], place)};
        });
}

inline std::vector<KolmogorovRow> read_kolmogorov() {
    return detail::read_csv<KolmogorovRow>(
        "kolmogorov.csv", "n,d,probability,complement",
        [](const std::vector<std::string>& f, const std::string& place) {
            return KolmogorovRow{detail::parse_count(f[0], place), detail::parse_double(f[1], place),
                                 detail::parse_long_double(f[2], place), detail::parse_long_double(f[3], place)};
        });
}

inline std::vector<KolmogorovMedian> read_kolmogorov_medians() {
    return detail::read_csv<KolmogorovMedian>(
        "kolmogorov_median.csv", "n,median", [](const std::vector<std::string>& f, const std::string& place) {
            return KolmogorovMedian{detail::parse_count(f[0], place), detail::parse_long_double(f[1], place)};
        });
}

namespace detail {

inline double parse_double_or_nan(const std::string& text, const std::string& place) {
    return text.empty() ? std::numeric_limits<double>::quiet_NaN() : parse_double(text, place);
}

// Two columns, of which a family without that many parameters leaves the last ones empty.
inline std::vector<double> of_further(const std::vector<std::string>& fields, std::size_t first, std::size_t count,
                                      const std::string& place) {
    std::vector<double> values;
    for (std::size_t k = 0; k < count; ++k) values.push_back(parse_double_or_nan(fields[first + k], place));
    return values;
}

inline std::size_t further_count(const std::string& a, const std::string& b) {
    return (a.empty() ? 0U : 1U) + (b.empty() ? 0U : 1U);
}

}  // namespace detail

inline std::vector<FamilyRow> read_families() {
    return detail::read_csv<FamilyRow>(
        "families.csv",
        "family,u,a,b,cdf,survival,log_pdf,crps,normal_score,score_slope,score_a,score_b,crps_a,crps_b,log_pdf_a,"
        "log_pdf_b",
        [](const std::vector<std::string>& f, const std::string& place) {
            const std::size_t further = detail::further_count(f[2], f[3]);
            const auto number = [&](std::size_t k) { return detail::parse_double_or_nan(f[k], place); };
            return FamilyRow{f[0],
                             number(1),
                             detail::of_further(f, 2, further, place),
                             number(4),
                             number(5),
                             number(6),
                             number(7),
                             number(8),
                             number(9),
                             detail::of_further(f, 10, further, place),
                             detail::of_further(f, 12, further, place),
                             detail::of_further(f, 14, further, place)};
        });
}

inline std::vector<FamilyMoments> read_family_moments() {
    return detail::read_csv<FamilyMoments>(
        "family_moments.csv", "family,a,b,mean,sd", [](const std::vector<std::string>& f, const std::string& place) {
            return FamilyMoments{f[0], detail::of_further(f, 1, detail::further_count(f[1], f[2]), place),
                                 detail::parse_double(f[3], place), detail::parse_double(f[4], place)};
        });
}

inline std::vector<ReliabilityCase> read_reliability_cases() {
    return detail::read_section<ReliabilityCase>("cases", [](const nlohmann::json& o) {
        return ReliabilityCase{o.at("name").get<std::string>(),   detail::doubles_at(o, "errors"),
                               detail::doubles_at(o, "sigmas"),   detail::doubles_at(o, "weights"),
                               detail::number_at(o, "rs"),        detail::number_at(o, "rs_without_constant"),
                               detail::number_at(o, "rs_floor"),  detail::number_at(o, "n_eff"),
                               detail::number_at(o, "mean_crps"), detail::number_at(o, "mean_nlpd")};
    });
}

inline std::vector<RsMinRow> read_rs_min() {
    return detail::read_section<RsMinRow>("rs_min", [](const nlohmann::json& o) {
        return RsMinRow{o.at("n").get<std::size_t>(), detail::number_at(o, "with_constant"),
                        detail::number_at(o, "without_constant")};
    });
}

inline std::vector<BetaCase> read_beta_cases() {
    return detail::read_section<BetaCase>("beta", [](const nlohmann::json& o) {
        return BetaCase{o.at("name").get<std::string>(), detail::doubles_at(o, "errors"),
                        detail::number_at(o, "crps_min"), detail::number_at(o, "rs_min"), detail::number_at(o, "beta")};
    });
}

inline std::vector<ConstantSigmaCase> read_constant_sigma_cases() {
    return detail::read_section<ConstantSigmaCase>("best_constant_sigma", [](const nlohmann::json& o) {
        return ConstantSigmaCase{o.at("name").get<std::string>(), detail::doubles_at(o, "errors"),
                                 detail::doubles_at(o, "weights"), detail::number_at(o, "sigma"),
                                 detail::number_at(o, "mean_crps")};
    });
}

}  // namespace accrue::support

#endif  // ACCRUE_TESTS_SUPPORT_REFERENCE_HPP
