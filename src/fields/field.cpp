#include "fields/field.hpp"

#include <algorithm>

namespace accrue::fields {

namespace {

class Stack final : public Field {
public:
    explicit Stack(std::vector<std::shared_ptr<const Field>> fields) : fields_(std::move(fields)) {}

    std::string_view name() const override { return fields_.front()->name(); }
    std::size_t outputs() const override { return fields_.size(); }
    std::size_t parameters() const override {
        std::size_t count = 0;
        for (const auto& field : fields_) count += field->parameters();
        return count;
    }
    std::vector<double> start(core::Random& random, std::span<const double> levels) const override {
        std::vector<double> all;
        for (std::size_t p = 0; p < fields_.size(); ++p) {
            const std::vector<double> own = fields_[p]->start(random, levels.subspan(p, 1));
            all.insert(all.end(), own.begin(), own.end());
        }
        return all;
    }
    bool admissible(std::span<const double> parameters) const override {
        bool all = true;
        for_each([&](const Field& field, std::size_t, std::size_t at) {
            all = all && field.admissible(parameters.subspan(at, field.parameters()));
        });
        return all;
    }
    void values(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end, double* out,
                std::size_t stride) const override {
        for_each([&](const Field& field, std::size_t p, std::size_t at) {
            field.values(parameters.subspan(at, field.parameters()), x, begin, end, out + p * stride, 0);
        });
    }
    void add_gradient(std::span<const double> parameters, const Columns& x, std::size_t begin, std::size_t end,
                      const double* slopes, std::size_t stride, double* gradient) const override {
        for_each([&](const Field& field, std::size_t p, std::size_t at) {
            field.add_gradient(parameters.subspan(at, field.parameters()), x, begin, end, slopes + p * stride, 0,
                               gradient + at);
        });
    }
    double penalty(std::span<const double> parameters, std::span<double> gradient) const override {
        double sum = 0;
        for_each([&](const Field& field, std::size_t, std::size_t at) {
            const std::size_t count = field.parameters();
            sum +=
                field.penalty(parameters.subspan(at, count), gradient.empty() ? gradient : gradient.subspan(at, count));
        });
        return sum;
    }
    std::shared_ptr<const Field> rough() const override {
        std::vector<std::shared_ptr<const Field>> all;
        for (const auto& field : fields_) {
            all.push_back(field->rough());
            if (!all.back()) all.back() = field;
        }
        return all == fields_ ? nullptr : std::make_shared<Stack>(std::move(all));
    }

private:
    template <typename Work>
    void for_each(Work&& work) const {
        std::size_t at = 0;
        for (std::size_t p = 0; p < fields_.size(); ++p) {
            work(*fields_[p], p, at);
            at += fields_[p]->parameters();
        }
    }

    std::vector<std::shared_ptr<const Field>> fields_;
};

}  // namespace

std::size_t category_count(std::span<const Range> ranges) {
    return static_cast<std::size_t>(
        std::count_if(ranges.begin(), ranges.end(), [](const Range& range) { return range.levels > 0; }));
}

nlohmann::ordered_json Field::json(std::span<const double> parameters) const {
    return {{"kind", name()}, {"parameters", std::vector<double>(parameters.begin(), parameters.end())}};
}

std::shared_ptr<const Field> stacked(std::vector<std::shared_ptr<const Field>> fields) {
    if (fields.size() == 1) return fields.front();
    return std::make_shared<Stack>(std::move(fields));
}

}  // namespace accrue::fields
