// What is written can be read, and nothing else.
#include "fields/kinds.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "accrue/error.hpp"
#include "fields/target_rows.hpp"
#include "support/gradient.hpp"
#include "support/threads.hpp"

namespace accrue::fields {
namespace {

using Json = nlohmann::ordered_json;

Fitted fitted(const std::string& name, const TargetRows& rows) {
    core::Random random(1);
    return mean_kind(name).fit(rows.targets(), row_numbers(0, 40), row_numbers(40, 50), random, {});
}

// A mean of every kind, and one of all of them together.
std::vector<std::vector<Fitted>> one_of_each(const TargetRows& rows) {
    std::vector<std::vector<Fitted>> all;
    std::vector<Fitted> together;
    for (const std::string& name : mean_kind_names()) {
        all.push_back({fitted(name, rows)});
        together.push_back(all.back()[0]);
    }
    together.push_back(together[0]);
    all.push_back(together);
    return all;
}

TEST(Means, ATextThatIsReadAgainPredictsTheSameBits) {
    const TargetRows rows(50, 2, 500);
    const TargetRows others(200, 2, 501);
    for (const auto& mean : one_of_each(rows)) {
        const auto read = mean_from_json(Json::parse(mean_json(mean).dump()), 2);
        EXPECT_EQ(mean_json(read), mean_json(mean));
        EXPECT_TRUE(support::same_bytes(average_of_all(read, others.columns(), 200),
                                        average_of_all(mean, others.columns(), 200)));
    }
}

TEST(Means, TheTextHoldsNoObservation) {
    TargetRows rows(50, 2, 502);
    for (std::size_t i = 0; i < 50; ++i) rows.y[i] = 0.123456789 + static_cast<double>(i) / 50;
    for (const auto& mean : one_of_each(rows)) {
        const std::string text = mean_json(mean).dump();
        for (const double y : rows.y) EXPECT_EQ(text.find(Json(y).dump()), std::string::npos);
    }
}

TEST(Means, GradientAgreesWithCentralDifferences) {
    const TargetRows rows(50, 2, 504);
    for (const auto& mean : one_of_each(rows)) {
        const Fitted& own = mean.front();
        const std::vector<double> slopes(50, 1.0);
        std::vector<double> gradient(own.parameters.size());
        own.field->add_gradient(own.parameters, rows.columns(), 0, 50, slopes.data(), 0, gradient.data());
        const auto total = [&](std::span<const double> p) {
            std::vector<double> out(50);
            own.field->values(p, rows.columns(), 0, 50, out.data(), 0);
            double sum = 0;
            for (const double value : out) sum += value;
            return sum;
        };
        support::expect_gradient(total, gradient, own.parameters, 1e-6, {.relative = 1e-4, .least = 1});
    }
}

TEST(Means, KindsHaveNames) {
    for (const std::string& name : mean_kind_names()) EXPECT_EQ(mean_kind(name).name(), name);
    EXPECT_THROW(mean_kind("forest"), InputError);
}

TEST(Means, ABadTextIsRefused) {
    const TargetRows rows(50, 2, 503);
    const Fitted of_network = fitted("network", rows);
    const Json network = mean_json(std::vector{of_network});
    const Json process = mean_json(std::vector{fitted("gp", rows)});
    const Json ensemble = mean_json(std::vector{of_network, of_network});
    const auto refused = [](const Json& json, std::size_t inputs = 2) {
        EXPECT_THROW(mean_from_json(json, inputs), InputError) << json.dump().substr(0, 200);
    };
    for (const Json& json : {Json(), Json(3), Json::array(), Json::object(), Json{{"kind", 3}}, Json{{"kind", "tree"}}})
        refused(json);
    // Every entry: missing, of another type, empty.
    std::vector<Json> all = {ensemble};
    for (const auto& mean : one_of_each(rows)) all.push_back(mean_json(mean));
    for (const Json& good : all) {
        for (const auto& [key, value] : good.items())
            for (const Json& bad : {Json(nullptr), Json("text"), Json(true), Json::array(), Json::array({nullptr}),
                                    Json::array({"x"}), Json::object()}) {
                Json changed = good;
                changed[key] = bad;
                refused(changed);
                changed.erase(key);
                refused(changed);
            }
        if (!mean_kind(good.at("kind") == "ensemble" ? "network" : good.at("kind").get<std::string>())
                 .depends_on_inputs())
            continue;
        refused(good, 0);
        refused(good, 1);
        refused(good, 3);
    }
    // One number too few or too many, or one that is not finite.
    const auto with = [](Json json, const std::string& pointer, const Json& value) {
        json[Json::json_pointer(pointer)] = value;
        return json;
    };
    const double infinite = std::numeric_limits<double>::infinity();
    refused(with(network, "/parameters/-", 1.0));
    refused(with(network, "/parameters/5", infinite));
    refused(with(process, "/alpha/-", 1.0));
    refused(with(process, "/alpha/0", infinite));
    refused(with(process, "/points/1/-", 1.0));
    refused(with(process, "/points/-", Json::array()));
    refused(with(process, "/points/1/3", infinite));
    refused(with(process, "/log_lengths/-", 1.0));
    refused(with(process, "/log_lengths/0", infinite));
    refused(with(process, "/log_noise", infinite));
    refused(with(process, "/log_signal", 1e300));
    refused(with(ensemble, "/members/0/parameters/7", infinite));
    refused(with(ensemble, "/members/0", ensemble));
}

}  // namespace
}  // namespace accrue::fields
