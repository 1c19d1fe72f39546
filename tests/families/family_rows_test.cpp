// Scores of many rows, as training takes them, against the functions of u and differences.
#include <gtest/gtest.h>

#include <cmath>

#include "accrue/family.hpp"
#include "core/random.hpp"

namespace accrue {
namespace {

enum class Score { crps, nlpd, normal_score };

// Rows that have parameters of their own, within bounds.
struct Case {
    explicit Case(const Family& family, std::size_t count = 300)
        : own(family), rows(count), parameters(2 + family.further().size(), std::vector<double>(count)) {
        core::Random random(31);
        observations.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            parameters[0][i] = random.normal();        // location
            parameters[1][i] = 0.5 * random.normal();  // log scale
            observations[i] = parameters[0][i] + std::exp(parameters[1][i]) * 2.5 * random.normal();
            for (std::size_t k = 2; k < parameters.size(); ++k) {
                const Family::Parameter p = family.further()[k - 2];
                parameters[k][i] = p.low + (p.high - p.low) * random.uniform(0.02, 0.98);
            }
        }
    }

    // Column after column, of which the first is the locations', as slopes come.
    std::vector<double> score(Score kind, std::vector<double>* slopes = nullptr,
                              Family::Precision precision = Family::Precision::exact) const {
        std::vector<double> errors(rows), scales(rows), further, values(rows);
        for (std::size_t i = 0; i < rows; ++i) {
            errors[i] = observations[i] - parameters[0][i];
            scales[i] = std::exp(parameters[1][i]);
        }
        for (std::size_t k = 2; k < parameters.size(); ++k)
            further.insert(further.end(), parameters[k].begin(), parameters[k].end());
        const Family::Rows in{rows, errors.data(), scales.data(), further.data(), rows};
        Family::RowSlopes out{};
        if (slopes != nullptr) {
            slopes->assign(parameters.size() * rows, NAN);
            out = {slopes->data(), slopes->data() + rows, slopes->data() + 2 * rows, rows};
        }
        const Family::RowSlopes* wanted = slopes != nullptr ? &out : nullptr;
        if (kind == Score::crps) own.crps_rows(in, values.data(), wanted, precision);
        if (kind == Score::nlpd) own.nlpd_rows(in, values.data(), wanted);
        if (kind == Score::normal_score) own.normal_score_rows(in, values.data(), wanted);
        return values;
    }
    std::vector<double> further_of(std::size_t i) const {
        std::vector<double> values;
        for (std::size_t k = 2; k < parameters.size(); ++k) values.push_back(parameters[k][i]);
        return values;
    }

    const Family& own;
    std::size_t rows;
    std::vector<std::vector<double>> parameters;
    std::vector<double> observations;
};

TEST(FamilyRows, AreTheFunctionsOfU) {
    for (const std::string& name : family_names()) {
        SCOPED_TRACE(name);
        const Case rows(*family(name));
        const std::vector<double> crps = rows.score(Score::crps);
        const std::vector<double> nlpd = rows.score(Score::nlpd);
        const std::vector<double> scores = rows.score(Score::normal_score);
        for (std::size_t i = 0; i < rows.rows; ++i) {
            const double scale = std::exp(rows.parameters[1][i]);
            const double u = (rows.observations[i] - rows.parameters[0][i]) / scale;
            const std::vector<double> f = rows.further_of(i);
            const double spread = 1 + scale * rows.own.sd(f);
            EXPECT_NEAR(crps[i], scale * rows.own.crps(u, f), 1e-12 * spread) << i;
            const double density = std::log(scale) - rows.own.log_pdf(u, f);
            EXPECT_NEAR(nlpd[i], density, 1e-12 * (1 + std::fabs(density))) << i;
            const double score = rows.own.normal_score(u, f);
            EXPECT_NEAR(scores[i], score, 1e-13 * (1 + std::fabs(score))) << i;
        }
    }
}

TEST(FamilyRows, HaveTheSlopesOfDifferences) {
    constexpr double kStep = 3e-4;
    for (const std::string& name : family_names())
        for (const Score kind : {Score::crps, Score::nlpd, Score::normal_score}) {
            SCOPED_TRACE(testing::Message() << name << ", score " << static_cast<int>(kind));
            Case rows(*family(name));
            std::vector<double> slopes;
            EXPECT_EQ(rows.score(kind, &slopes), rows.score(kind));
            for (std::size_t p = 0; p < rows.parameters.size(); ++p) {
                const std::vector<double> before = rows.parameters[p];
                const auto moved = [&](double by) {
                    for (std::size_t i = 0; i < rows.rows; ++i) rows.parameters[p][i] = before[i] + by * kStep;
                    return rows.score(kind);
                };
                const std::vector<double> a = moved(-2), b = moved(-1), c = moved(1), d = moved(2);
                rows.parameters[p] = before;
                for (std::size_t i = 0; i < rows.rows; ++i) {
                    const double scale = std::exp(rows.parameters[1][i]);
                    // A density with a kink where the halves meet has no difference across it.
                    if (std::fabs(rows.observations[i] - rows.parameters[0][i]) < 3 * kStep * (1 + scale)) continue;
                    const double expected = (8 * (c[i] - b[i]) - (d[i] - a[i])) / (12 * kStep);
                    const double spread = kind == Score::crps ? scale * rows.own.sd(rows.further_of(i)) : 1;
                    // The formula leaves out the step to the fourth, 1e-14 of a fifth derivative.
                    EXPECT_NEAR(slopes[p * rows.rows + i], expected, 1e-7 * (1 + spread + std::fabs(expected)))
                        << "parameter " << p << ", row " << i;
                }
            }
        }
}

TEST(FamilyRows, AreRightToAThousandthWhereRough) {
    for (const std::string& name : family_names()) {
        SCOPED_TRACE(name);
        const Case rows(*family(name), 2000);
        std::vector<double> exact_slopes;
        std::vector<double> rough_slopes;
        const std::vector<double> exact = rows.score(Score::crps, &exact_slopes);
        const std::vector<double> rough = rows.score(Score::crps, &rough_slopes, Family::Precision::rough);
        for (std::size_t i = 0; i < rows.rows; ++i) {
            const double spread = std::exp(rows.parameters[1][i]) * rows.own.sd(rows.further_of(i));
            EXPECT_NEAR(rough[i], exact[i], 1e-3 * spread) << i;
            for (std::size_t p = 0; p < rows.parameters.size(); ++p)
                EXPECT_NEAR(rough_slopes[p * rows.rows + i], exact_slopes[p * rows.rows + i], 1e-3 * (1 + spread)) << i;
        }
    }
}

TEST(FamilyRows, BearExtremes) {
    const std::vector<double> errors = {0, 1e-300, -1e-300, 1e12, -1e12, 1e300, -1e300};
    const std::vector<double> scales = {1, 1e-6, 1, 1e-6, 3, 1, 1e-6};
    for (const std::string& name : family_names()) {
        const Family& own = *family(name);
        for (const double share : {0.0, 0.5, 1.0}) {
            SCOPED_TRACE(testing::Message() << name << " " << share);
            const std::size_t n = errors.size();
            std::vector<double> further, values(n), slopes((2 + own.further().size()) * n);
            for (const Family::Parameter& p : own.further())
                further.insert(further.end(), n, p.low + share * (p.high - p.low));
            const Family::Rows rows{n, errors.data(), scales.data(), further.data(), n};
            const Family::RowSlopes out{slopes.data(), slopes.data() + n, slopes.data() + 2 * n, n};
            own.crps_rows(rows, values.data(), &out, Family::Precision::rough);
            for (const double value : values) EXPECT_TRUE(std::isfinite(value) && value >= 0) << value;
            for (const double slope : slopes) EXPECT_TRUE(std::isfinite(slope)) << slope;
            own.normal_score_rows(rows, values.data(), nullptr);
            // The toy's probabilities underflow; those of the library's families do not.
            if (name == "toy") continue;
            for (const double value : values) EXPECT_TRUE(std::isfinite(value)) << value;
        }
    }
}

}  // namespace
}  // namespace accrue
