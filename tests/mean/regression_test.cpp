// What is written can be read, and nothing else.
#include "mean/regression.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "accrue/error.hpp"
#include "mean/cross_fit.hpp"
#include "mean/rows.hpp"
#include "support/threads.hpp"

namespace accrue::mean {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::shared_ptr<const Regression>> one_of_each(const TestRows& rows) {
    const auto fit = [&](RegressionKind kind, std::uint64_t seed) {
        return fit_regression(kind, rows.targets(), row_numbers(0, 40), row_numbers(40, 50), seed);
    };
    const auto network = fit(RegressionKind::network, 1);
    const auto process = fit(RegressionKind::gp, 1);
    const auto both =
        std::make_shared<Ensemble>(std::vector<std::shared_ptr<const Regression>>{network, process, network});
    return {network, process, both};
}

TEST(Regression, ATextThatIsReadAgainPredictsTheSameBits) {
    const TestRows rows(50, 2, 500);
    const TestRows others(200, 2, 501);
    for (const auto& regression : one_of_each(rows)) {
        const auto read = regression_from_json(Json::parse(regression->json().dump()), 2);
        EXPECT_EQ(read->kind(), regression->kind());
        EXPECT_EQ(read->json(), regression->json());
        EXPECT_TRUE(support::same_bytes(predict_all(*read, others.columns(), 200),
                                        predict_all(*regression, others.columns(), 200)));
    }
}

TEST(Regression, TheTextHoldsNoObservation) {
    TestRows rows(50, 2, 502);
    for (std::size_t i = 0; i < 50; ++i) rows.y[i] = 0.123456789 + static_cast<double>(i) / 50;
    for (const auto& regression : one_of_each(rows)) {
        const std::string text = regression->json().dump();
        for (const double y : rows.y) EXPECT_EQ(text.find(Json(y).dump()), std::string::npos) << regression->kind();
    }
}

TEST(Regression, ABadTextIsRefused) {
    const TestRows rows(50, 2, 503);
    const auto all = one_of_each(rows);
    const Json network = all[0]->json();
    const Json process = all[1]->json();
    const Json ensemble = all[2]->json();
    const auto refused = [](const Json& json, std::size_t inputs = 2) {
        EXPECT_THROW(regression_from_json(json, inputs), InputError) << json.dump().substr(0, 200);
    };
    for (const Json& json : {Json(), Json(3), Json::array(), Json::object(), Json{{"kind", 3}}, Json{{"kind", "tree"}}})
        refused(json);
    // Every entry: missing, of another type, empty.
    for (const Json& good : {network, process, ensemble}) {
        for (const auto& [key, value] : good.items())
            for (const Json& bad : {Json(nullptr), Json("text"), Json(true), Json::array(), Json::array({nullptr}),
                                    Json::array({"x"}), Json::object()}) {
                Json changed = good;
                changed[key] = bad;
                refused(changed);
                changed.erase(key);
                refused(changed);
            }
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
}  // namespace accrue::mean
