// fit, predict and evaluate on NetCDF files that ncgen made, read back with ncdump.
#include <cmath>
#include <cstdlib>
#include <string>

#include "accrue/model.hpp"
#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class NetcdfCli : public ModelCliTest {
protected:
    std::string from_cdl(const std::string& name, const std::string& body, const std::string& kind) const {
        const std::string cdl = folder_.file("source.cdl", "netcdf source {\n" + body + "\n}\n");
        const Ended run = support::run({"/usr/bin/ncgen", "-k", kind, "-o", folder_.path(name), cdl});
        EXPECT_EQ(run.status, 0) << run.err;
        return folder_.path(name);
    }
    std::string dump(const std::string& name, const std::vector<std::string>& options = {}) const {
        const Ended run = support::run(with(with({"/usr/bin/ncdump"}, options), {folder_.path(name)}));
        EXPECT_EQ(run.status, 0) << run.err;
        return run.out;
    }
    // time x lat x lon forecasts t2m and analyses t2m_obs; errors grow with lat. The first forecast is missing.
    std::string field(const std::string& name, const std::string& kind) const {
        core::Random random(21);
        std::string forecasts("_");
        std::string analyses("1");
        for (int i = 1; i < kTimes * 12; ++i) {
            const double lat = 20.0 * (i / 4 % 3);
            const double mu = 280 + random.normal();
            forecasts += fmt::format(", {}", mu);
            analyses += fmt::format(", {}", mu + (0.2 + 0.05 * lat) * random.normal());
        }
        return from_cdl(name,
                        fmt::format("dimensions: time = UNLIMITED; lat = 3; lon = 4;\n"
                                    "variables: double time(time); time:units = \"hours since 2024-01-01\";\n"
                                    "  float lat(lat); lat:units = \"degrees_north\";\n"
                                    "  double t2m(time, lat, lon); t2m:units = \"K\"; t2m:_FillValue = -999.;\n"
                                    "  double t2m_obs(time, lat, lon);\n"
                                    "data: time = {}; lat = 0, 20, 40;\n t2m = {};\n t2m_obs = {};",
                                    times(), forecasts, analyses),
                        kind);
    }
    static std::string times() {
        std::string text("0");
        for (int i = 1; i < kTimes; ++i) text += fmt::format(", {}", 6 * i);
        return text;
    }
    std::vector<std::string> fit_field(const std::string& file, const std::vector<std::string>& more = {}) const {
        return with({"fit", file, "--prediction", "t2m", "--observation", "t2m_obs", "--inputs", "lat", "--starts", "1",
                     "--missing", "drop", "--quiet", "-o", folder_.path("m.json")},
                    more);
    }

    static constexpr int kTimes = 10;
};

TEST_F(NetcdfCli, DrawsAndProbabilitiesOfMoreAreThoseOfATable) {
    const std::string file = field("f.nc", "classic");
    json(fit_field(file, {"--time", "time"}));
    const std::vector<std::string> asked = {"--draws", "2", "--seed", "3", "--exceed", "280"};
    output(with({"predict", folder_.path("m.json"), file, "-o", folder_.path("out.nc")}, asked));
    const std::string text = dump("out.nc", {"-v", "above_280,draw_1,draw_2", "-p", "17,17"});
    for (const char* name : {"above_280", "draw_1", "draw_2"}) {
        EXPECT_NE(text.find(fmt::format("double {}(time, lat, lon)", name)), std::string::npos) << text;
        const std::string data = text.substr(text.find(fmt::format(" {} =", name), text.find("data:")));
        const std::vector<std::string> values =
            cells(data.substr(data.find('=') + 1, data.find(';') - data.find('=') - 1));
        ASSERT_EQ(values.size(), kTimes * 12U);
        EXPECT_NE(values[0].find('_'), std::string::npos) << "masked in means fill out";
        for (std::size_t i = 1; i < values.size(); ++i) {
            const double value = std::stod(values[i]);
            if (name[0] == 'a') {
                EXPECT_GE(value, 0);
                EXPECT_LE(value, 1);
            } else {
                EXPECT_NEAR(value, 280, 40) << "within some sigmas of the forecast";
            }
        }
    }
}

TEST_F(NetcdfCli, FitsPredictsAndEvaluatesFields) {
    for (const char* kind : {"classic", "nc4"}) {
        const std::string file = field("f.nc", kind);
        const Json fit = json(fit_field(file, {"--time", "time"}));
        EXPECT_EQ(fit["rows"], kTimes * 12 - 1);
        EXPECT_EQ(fit["dropped"], 1);
        output({"predict", folder_.path("m.json"), file, "--quantiles", "0.05,0.95", "--interval", "0.9", "-o",
                folder_.path("out.nc")});
        const std::string header = dump("out.nc", {"-h"});
        for (const char* part : {"double sigma(time, lat, lon)", "double mean(time, lat, lon)", "quantile = 2",
                                 "double quantile(quantile)", "off_support(time, lat, lon)", "sigma:units = \"K\"",
                                 "sigma:long_name", "history", "time = UNLIMITED", "double t2m(time, lat, lon)"})
            EXPECT_NE(header.find(part), std::string::npos) << kind << ": " << part << "\n" << header;

        // A row of fill and then the same sigma along each latitude, as in C++.
        const std::string text = dump("out.nc", {"-v", "sigma", "-p", "17,17"});
        const std::string data = text.substr(text.find("sigma =", text.find("data:")) + 7);
        std::vector<std::string> values = cells(data.substr(0, data.find(';')));
        ASSERT_EQ(values.size(), kTimes * 12U);
        EXPECT_NE(values[0].find('_'), std::string::npos) << "masked in means fill out";
        const Model model = Model::load(folder_.path("m.json"));
        for (std::size_t i = 1; i < values.size(); ++i) {
            const double lat = 20.0 * static_cast<double>(i / 4 % 3);
            const std::vector<std::span<const double>> inputs = {{&lat, 1}};
            EXPECT_EQ(std::strtod(values[i].c_str(), nullptr), model.forecast(inputs).sigma[0]) << i;
        }

        const std::vector<std::string> roles = {"--prediction", "t2m", "--observation", "t2m_obs", "--missing", "drop"};
        Json direct = json(with(with({"evaluate", file}, roles), {"--model", folder_.path("m.json")}));
        Json by_file = json(with(with({"evaluate", folder_.path("out.nc")}, roles), {"--sigma", "sigma"}));
        EXPECT_EQ(direct["off_support_percent"], 0);
        for (const char* key : {"name", "off_support_percent"}) {
            direct.erase(key);
            by_file.erase(key);
        }
        EXPECT_EQ(direct, by_file) << kind;
    }
}

TEST_F(NetcdfCli, ALearnedMeanPredictsWhatItWasFittedOnWhateverTheOrderOfItsInputs) {
    core::Random random(22);
    std::string field, y, times;
    for (int i = 0; i < 120; ++i) {
        const double x = random.uniform();
        field += fmt::format("{}{}", i == 0 ? "" : ", ", x);
        y += fmt::format("{}{}", i == 0 ? "" : ", ", 2 * x + i % 4 + 0.1 * random.normal());
    }
    for (int t = 0; t < 30; ++t) times += fmt::format("{}{}", t == 0 ? "" : ", ", t);
    for (const char* kind : {"classic", "nc4"}) {
        const std::string file = from_cdl(
            "f.nc",
            fmt::format("dimensions: time = UNLIMITED; place = 4;\nvariables: double hour(time); double site(place); "
                        "site:units = \"1\"; double field(time, place); field:units = \"m\"; double y(time, place);\n"
                        "data: hour = {}; site = 0, 1, 2, 3; field = {}; y = {};",
                        times, field, y),
            kind);
        // The last has no input with all dimensions of the rows.
        for (const char* inputs : {"field,site", "site,field", "site,hour"}) {
            SCOPED_TRACE(std::string(kind) + ": " + inputs);
            output({"fit", file, "--observation", "y", "--inputs", inputs, "--mean", "gp", "--form", "constant",
                    "--quiet", "-o", folder_.path("m.json")});
            output({"predict", folder_.path("m.json"), file, "--quantiles", "0.5", "-o", folder_.path("out.nc")});
            const std::string header = dump("out.nc", {"-h"});
            EXPECT_NE(header.find("double mean(time, place)"), std::string::npos) << header;
            EXPECT_NE(header.find("double quantiles(time, quantile, place)"), std::string::npos) << header;
            EXPECT_EQ(header.find("mean:units"), std::string::npos) << "an input's unit is not that of y";
            const Json scores = json(
                {"evaluate", folder_.path("out.nc"), "--prediction", "mean", "--observation", "y", "--sigma", "sigma"});
            EXPECT_EQ(scores["rows"], 120);
            EXPECT_LT(scores["rmse"].get<double>(), 0.8) << "each value stands at its own place";
        }
    }
}

TEST_F(NetcdfCli, ATimeIsAnInputOnlyWhereItIsNamed) {
    const std::string file = field("f.nc", "classic");
    std::vector<std::string> arguments = fit_field(file);
    arguments.erase(arguments.begin() + 6, arguments.begin() + 8);  // --inputs lat
    EXPECT_EQ(json(arguments)["inputs"], Json({"t2m", "lat"}));
    EXPECT_EQ(json(with(arguments, {"--inputs", "time"}))["inputs"], Json({"time"}));
    // Rows later than the archive are off its support, and evaluate says so.
    const std::string later =
        from_cdl("later.nc",
                 "dimensions: time = 2;\nvariables: double time(time); time:units = \"hours since "
                 "2024-01-01\"; double t2m(time); double t2m_obs(time);\ndata: time = 1000, 1001; t2m = "
                 "280, 281; t2m_obs = 280, 282;",
                 "classic");
    const Json scores =
        json({"evaluate", later, "--prediction", "t2m", "--observation", "t2m_obs", "--model", folder_.path("m.json")});
    EXPECT_NEAR(scores["off_support_percent"].get<double>(), 100, 0);
    EXPECT_NE(scores["verdict"]["remarks"].dump().find("100% of the rows lie outside"), std::string::npos);
}

TEST_F(NetcdfCli, MetadataDecidesWhatInputsAre) {
    core::Random random(22);
    std::string mu, y, wdir;
    constexpr int kStations = 3;
    for (int i = 0; i < 40 * kStations; ++i) {
        const double own = random.normal();
        mu += fmt::format("{}{}", i == 0 ? "" : ", ", own);
        y += fmt::format("{}{}", i == 0 ? "" : ", ", own + (1 + i % kStations) * random.normal());
        wdir += fmt::format("{}{}", i == 0 ? "" : ", ", 360 * random.uniform());
    }
    std::string hours("0");
    for (int i = 1; i < 40; ++i) hours += fmt::format(", {}", 6 * i);
    const std::string file = from_cdl(
        "f.nc",
        fmt::format(
            "dimensions: time = 40; station = 3; letters = 4;\n"
            "variables: double time(time); time:units = \"hours since 2024-01-01\";\n"
            "  char name(station, letters);\n"
            "  double wdir(time, station); wdir:units = \"degrees\"; wdir:standard_name = \"wind_from_direction\";\n"
            "  double mu(time, station); double y(time, station);\n"
            "data: time = {}; name = \"hill\", \"sea\", \"town\";\n wdir = {};\n mu = {};\n y = {};",
            hours, wdir, mu, y),
        "classic");
    const auto fit = [&](const std::vector<std::string>& more) {
        return json(with({"fit", file, "--prediction", "mu", "--observation", "y", "--starts", "1", "--quiet", "-o",
                          folder_.path("m.json")},
                         more));
    };
    const Json offer = {"time (time) could give two inputs: time:season and time:hour"};
    const Json chosen = fit({});
    EXPECT_EQ(chosen["inputs"], Json({"mu", "wdir:cyclic(360)", "name:category"}));
    EXPECT_EQ(chosen["notes"], offer);
    EXPECT_EQ(fit({"--inputs", "wdir,name"})["inputs"], Json({"wdir:cyclic(360)", "name:category"}));
    const Json said = fit({"--inputs", "wdir:number"});
    EXPECT_EQ(said["inputs"], Json({"wdir"}));
    EXPECT_EQ(said["notes"][1], "name (text, 3 values) could be an input: name:category") << said["notes"];
    EXPECT_EQ(fit({"--group", "name", "--folds", "3"})["inputs"], Json({"mu", "wdir:cyclic(360)"}))
        << "what has a role is no input";
    EXPECT_EQ(fit({"--form", "clusters"})["inputs"], Json({"mu", "wdir:cyclic(360)"}));
    EXPECT_EQ(accrue({"predict", folder_.path("m.json"), file, "-o", folder_.path("out.nc")}).status, 0);
}

TEST_F(NetcdfCli, RefusesWhatDoesNotFit) {
    const std::string file = field("f.nc", "classic");
    output(fit_field(file));
    const std::string model = folder_.path("m.json");
    // An input along a dimension that the prediction lacks.
    const std::string other =
        from_cdl("other.nc",
                 "dimensions: lat = 2; level = 3;\nvariables: double lat(level); double t2m(lat); "
                 "double t2m_obs(lat);\ndata: lat = 1, 2, 3; t2m = 1, 2; t2m_obs = 1, 2;",
                 "classic");
    const std::string out = folder_.path("out.nc");
    EXPECT_NE(refusal(accrue({"predict", model, other, "-o", out})).find("level"), std::string::npos);
    EXPECT_NE(refusal(accrue(fit_field(other))).find("level"), std::string::npos);
    EXPECT_EQ(refusal(accrue(fit_field(file, {"--weight", "area"}))).find("f.nc has no variable 'area'"), 0U);
    EXPECT_NE(refusal(accrue({"predict", model, file, "-o", folder_.path("out.csv")})).find("NetCDF"),
              std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(out));
    // The first row is left out, since it has no forecast.
    const std::string broken = "the observation of f.nc at time=0, lat=0, lon=1 is ";
    for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--isolate"}})
        EXPECT_EQ(refusal(accrue(fit_field(file, with({"--lower", "1000"}, more)))).find(broken), 0U);
    const std::string whole = folder_.content("f.nc");
    for (const std::size_t size : {whole.size() / 2, std::size_t{40}, std::size_t{4}}) {
        const std::string cut = folder_.file("cut.nc", whole.substr(0, size));
        EXPECT_NE(refusal(accrue({"predict", model, cut, "-o", out})).find("cut.nc"), std::string::npos);
        EXPECT_NE(refusal(accrue(fit_field(cut))).find("cut.nc"), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(out));
}

}  // namespace
}  // namespace accrue::test
