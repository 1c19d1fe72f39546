#include "fit/work.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "accrue/files.hpp"
#include "accrue/options.hpp"
#include "accrue/version.hpp"
#include "core/error.hpp"
#include "core/instruction_level.hpp"

namespace accrue::fitting {

namespace {

namespace fs = std::filesystem;

constexpr const char* kNameOfFit = "accrue-fit";  // the file that says whose starts these are
constexpr const char* kEndOfStarts = ".start";

// FNV-1a, by words where there are many numbers.
class Hash {
public:
    void add(std::uint64_t word) { state_ = std::rotl(state_ ^ word, 5) * 0x100000001b3U; }
    void add(std::string_view text) {
        add(std::uint64_t{text.size()});
        for (const char c : text) add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
    }
    void add(std::span<const double> values) {
        add(std::uint64_t{values.size()});
        for (const double value : values) add(std::bit_cast<std::uint64_t>(value));
    }
    void add(std::span<const std::uint32_t> codes) {
        add(std::uint64_t{codes.size()});
        for (const std::uint32_t code : codes) add(std::uint64_t{code});
    }
    std::string text() const { return fmt::format("{:016x}", state_); }

private:
    std::uint64_t state_ = 0xcbf29ce484222325U;
};

// What a fit is told by: everything that its starts depend on.
std::string fingerprint(const Archive& archive, const FitOptions& options) {
    Hash hash;
    hash.add(kVersion);
    hash.add(core::instruction_level());
    for (const FitOption& option : fit_options()) {
        hash.add(option.name);
        hash.add(option.get(options).dump());
    }
    for (const std::string& name : archive.input_names) hash.add(name);
    for (const std::span<const double> input : archive.inputs) hash.add(input);
    for (const InputType& type : archive.input_types) {
        hash.add(static_cast<std::uint64_t>(type.kind));
        hash.add(std::span(&type.period, 1));
        for (const std::string& label : type.labels) hash.add(label);
    }
    hash.add(std::uint64_t{archive.impute});
    for (const auto values : {archive.errors, archive.observation, archive.prediction, archive.weights,
                              archive.observation_error, archive.times})
        hash.add(values);
    for (const Grouping& groups : {archive.groups, archive.fold_groups, archive.recalibrate_groups})
        hash.add(groups.codes);
    return hash.text();
}

// The text that a file holds for this fit, or nothing where it holds none.
std::optional<std::string> kept_text(const fs::path& path, const std::string& fit) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::size_t end = text.find('\n');
    if (end == std::string::npos) return std::nullopt;
    Hash hash;
    hash.add(fit);
    hash.add(std::string_view(text).substr(end + 1));
    if (text.substr(0, end) != hash.text()) return std::nullopt;
    return text.substr(end + 1);
}

void keep_text(const fs::path& path, const std::string& fit, std::string_view text) {
    Hash hash;
    hash.add(fit);
    hash.add(text);
    write_file(path.string(), fmt::format("{}\n{}", hash.text(), text));
}

constexpr char kGood = '+';
constexpr char kBad = '-';  // before the message of a failure

// Throws unless all have succeeded; `own` begins with one of these.
std::vector<std::string> exchanged(const Processes& processes, const std::string& own) {
    std::vector<std::string> texts = processes.exchange(own);
    for (std::size_t p = 0; p < texts.size(); ++p)
        if (texts[p].empty() || texts[p].front() != kGood)
            throw MachineError(fmt::format("process {} of {}: {}", p + 1, texts.size(),
                                           texts[p].empty() ? "it ended" : std::string_view(texts[p]).substr(1)));
    for (std::string& text : texts) text.erase(0, 1);
    return texts;
}

std::string message_of(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return error.what();
    }
}

// The folder is made, or is that of this fit.
void open_checkpoint(const std::string& folder, bool resume, const std::string& fit, bool sampled) {
    std::error_code error;
    fs::create_directories(folder, error);
    core::require(!error && fs::is_directory(folder), "the checkpoint folder {} cannot be made: {}", folder,
                  error ? error.message() : "it is a file");
    const fs::path file = fs::path(folder) / kNameOfFit;
    if (!fs::exists(file)) return keep_text(file, {}, fit);
    const OptionName option = core::option("resume");
    core::require(resume, "{} holds a fit that was not finished: add {} to continue it, or remove the folder", folder,
                  option);
    const std::optional<std::string> kept = kept_text(file, {});
    core::require(kept.has_value(), "{} is damaged: remove the folder", file.string());
    core::require(
        *kept == fit,
        "{} holds another fit: its rows, its options, or the version or instruction level of accrue that made "
        "it are not those of this one{}",
        folder,
        sampled ? core::message(" (its rows are a sample whose size follows from the memory: give {} to each run)",
                                core::option("memory"))
                : Message());
}

}  // namespace

struct Work::Shared {
    const Processes* processes = nullptr;
    std::string fit;
    std::string folder;
    std::size_t batches = 0;

    fs::path file(std::size_t batch, std::size_t task) const {
        return fs::path(folder) / fmt::format("{}-{}{}", batch, task, kEndOfStarts);
    }
};

Work::Work(const Context& context, const Archive& archive, const FitOptions& options) : watcher(context.watcher) {
    const Processes* processes =
        context.processes != nullptr && context.processes->count() > 1 ? context.processes : nullptr;
    core::require(!context.resume || !context.checkpoint.empty(), "{} needs {}", core::option("resume"),
                  core::option("checkpoint"));
    if (processes == nullptr && context.checkpoint.empty()) return;
    const std::string fit = fingerprint(archive, options);
    if (processes != nullptr)
        for (const std::string& other : exchanged(*processes, kGood + fit))
            core::require(other == fit,
                          "the processes do not make the same fit: rows, options, version or instruction level differ");
    shared_ = std::make_shared<Shared>();
    shared_->processes = processes;
    shared_->fit = fit;
    shared_->folder = context.checkpoint;
    if (context.checkpoint.empty()) return;
    std::exception_ptr failure;
    if (processes == nullptr || processes->own() == 0) try {
            open_checkpoint(context.checkpoint, context.resume, fit, archive.sampled_from > 0);
        } catch (const std::exception&) {
            failure = std::current_exception();
        }
    if (processes != nullptr && failure == nullptr) exchanged(*processes, std::string(1, kGood));
    if (processes != nullptr && failure != nullptr) processes->exchange(kBad + message_of(failure));
    if (failure != nullptr) std::rethrow_exception(failure);
}

Work Work::watched_by(FitWatcher watch) const {
    Work own = *this;
    own.watcher = std::move(watch);
    return own;
}

Batch::Batch(const Work& work, std::size_t count) : shared_(work.shared_) {
    const Processes* processes = keeps() ? shared_->processes : nullptr;
    const std::size_t dealt = processes == nullptr ? 1 : processes->count();
    const std::size_t first = processes == nullptr ? 0 : processes->own();
    if (keeps()) {
        number_ = shared_->batches++;
        results_.resize(count);
        done_here_.resize(count);
    }
    for (std::size_t t = first; t < count; t += dealt) {
        if (keeps() && !shared_->folder.empty())
            if (std::optional<std::string> kept = kept_text(shared_->file(number_, t), shared_->fit)) {
                results_[t] = *std::move(kept);
                continue;
            }
        own_.push_back(t);
    }
}

void Batch::keep(std::size_t task, std::string text) {
    if (!shared_->folder.empty()) keep_text(shared_->file(number_, task), shared_->fit, text);
    const std::lock_guard lock(mutex_);
    results_[task] = std::move(text);
    done_here_[task] = true;
}

void Batch::finish(const std::exception_ptr& failure,
                   const std::function<void(std::size_t, const std::string&)>& take) {
    if (keeps() && shared_->processes != nullptr) {
        const Processes& processes = *shared_->processes;
        // Lengths and texts of the tasks that this process is for, done now or kept.
        std::string own(1, failure == nullptr ? kGood : kBad);
        if (failure != nullptr) {
            if (!processes.end_together()) processes.exchange(own + message_of(failure));
        } else {
            for (std::size_t t = processes.own(); t < results_.size(); t += processes.count())
                own += fmt::format("{}\n", results_[t].size()) + results_[t];
            const std::vector<std::string> all = exchanged(processes, own);
            for (std::size_t p = 0; p < all.size(); ++p) {
                std::size_t at = 0;
                for (std::size_t t = p; t < results_.size(); t += processes.count()) {
                    const std::size_t end = all[p].find('\n', at);
                    const std::size_t size = std::stoull(all[p].substr(at, end - at));
                    if (p != processes.own()) results_[t] = all[p].substr(end + 1, size);
                    at = end + 1 + size;
                }
            }
        }
    }
    if (failure != nullptr) std::rethrow_exception(failure);
    for (std::size_t t = 0; t < results_.size(); ++t)
        if (!done_here_[t]) take(t, results_[t]);
}

}  // namespace accrue::fitting

namespace accrue {

void remove_checkpoint(const std::string& folder) noexcept {
    namespace fs = std::filesystem;
    std::error_code error;
    fs::remove(fs::path(folder) / fitting::kNameOfFit, error);
    fs::directory_iterator files(folder, error);
    for (; !error && files != fs::directory_iterator(); files.increment(error)) {
        std::error_code own;
        if (files->path().extension() == fitting::kEndOfStarts) fs::remove(files->path(), own);
    }
    fs::remove(folder, error);  // where it is empty
}

}  // namespace accrue
