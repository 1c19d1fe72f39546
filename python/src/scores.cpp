// Scores for arrays. One row should cost little more than a Python call: see arrays.hpp.
#include "accrue/scores.hpp"

#include "arrays.hpp"
#include "module.hpp"

namespace accrue::python {

namespace {

using RowScore = void (*)(std::span<const double>, std::span<const double>, std::span<double>, std::span<double>);
using MeanScore = double (*)(std::span<const double>, std::span<const double>, std::span<const double>,
                             std::span<double>);

using Values = std::span<const double>;

// Calls work(array of the result's shape, errors, sigmas). One number stands for all rows, and NumPy broadcasts the
// rest.
template <typename Work>
nb::object with_pair(nb::handle error, nb::handle sigma, Work&& work) {
    const Numbers e(error);
    const Numbers s(sigma);
    if (e.has_shape_of(s)) return work(e, e.span(), s.span());
    if (s.is_scalar()) return work(e, e.span(), std::vector<double>(e.span().size(), s.span()[0]));
    if (e.is_scalar()) return work(s, std::vector<double>(s.span().size(), e.span()[0]), s.span());
    const nb::object both = helper("broadcast")(error, sigma);
    const Numbers e_all(both[0]);
    const Numbers s_all(both[1]);
    return work(e_all, e_all.span(), s_all.span());
}

template <RowScore score>
nb::object score_rows(nb::handle error, nb::handle sigma, bool gradient) {
    return with_pair(error, sigma, [&](const Numbers& like, Values e, Values s) -> nb::object {
        if (like.is_scalar()) {
            double value = 0;
            double slope = 0;
            score(e, s, {&value, 1}, {&slope, 1});
            if (!gradient) return nb::float_(value);
            return nb::make_tuple(value, slope);
        }
        Result values(like.empty_like());
        if (!gradient) {
            without_gil([&] { score(e, s, values.span(), {}); });
            return values.take();
        }
        Result slopes(like.empty_like());
        without_gil([&] { score(e, s, values.span(), slopes.span()); });
        return nb::make_tuple(values.take(), slopes.take());
    });
}

// Weighted value of all rows, and its gradient when asked for.
template <typename Score>
nb::object score_all(nb::handle error, nb::handle sigma, nb::handle weights, bool gradient, Score&& score) {
    return with_pair(error, sigma, [&](const Numbers& like, Values e, Values s) -> nb::object {
        const Numbers w(weights);
        decltype(score({}, {}, {}, {})) value{};
        if (!gradient) {
            without_gil([&] { value = score(e, s, w, {}); });
            return nb::cast(value);
        }
        Result slopes(like.empty_like());
        without_gil([&] { value = score(e, s, w, slopes.span()); });
        return nb::make_tuple(value, slopes.take());
    });
}

template <MeanScore score>
nb::object score_mean(nb::handle error, nb::handle sigma, nb::handle weights, bool gradient) {
    return score_all(error, sigma, weights, gradient, score);
}

nb::object score_ar(nb::handle error, nb::handle sigma, double beta, nb::handle weights, bool gradient) {
    return score_all(error, sigma, weights, gradient, [beta](Values e, Values s, Values w, std::span<double> slopes) {
        return accuracy_reliability(e, s, beta, w, slopes);
    });
}

double rs(std::span<const double> e, std::span<const double> s, std::span<const double> w, std::span<double> slopes) {
    return reliability_score(e, s, w, slopes);
}

template <double (*figure)(std::span<const double>, std::span<const double>)>
double of_errors(nb::handle error, nb::handle weights) {
    const Numbers e(error);
    const Numbers w(weights);
    double value = 0;
    without_gil([&] { value = figure(e, w); });
    return value;
}

}  // namespace

void add_scores(nb::module_& module) {
    // Three numbers that become a named tuple in accrue.scores.
    nb::class_<AccuracyReliability>(module, "AccuracyReliability")
        .def_ro("value", &AccuracyReliability::value)
        .def_ro("crps", &AccuracyReliability::crps)
        .def_ro("rs", &AccuracyReliability::rs);
    module.def("crps", score_rows<crps_rows>);
    module.def("nlpd", score_rows<nlpd_rows>);
    module.def("mean_crps", score_mean<mean_crps>, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    module.def("mean_nlpd", score_mean<mean_nlpd>, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    module.def("reliability_score", score_mean<rs>, nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    module.def("accuracy_reliability", score_ar, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg());
    module.def("effective_rows", [](nb::handle weights) {
        const Numbers w(weights);
        return effective_rows(w.span().size(), w);
    });
    module.def("reliability_floor", reliability_floor);
    module.def("reliability_minimum", reliability_minimum);
    module.def("crps_minimum", of_errors<crps_minimum>, nb::arg(), nb::arg().none());
    module.def("balanced_beta", of_errors<balanced_beta>, nb::arg(), nb::arg().none());
    module.def("best_constant_sigma", of_errors<best_constant_sigma>, nb::arg(), nb::arg().none());
}

}  // namespace accrue::python
