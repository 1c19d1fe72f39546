#include "accrue/fit.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "accrue/files.hpp"
#include "accrue/messages.hpp"
#include "accrue/options.hpp"
#include "accrue/propose.hpp"
#include "accrue/threads.hpp"
#include "commands.hpp"
#include "lab_report.hpp"
#include "portable.hpp"
#include "processes.hpp"
#include "progress.hpp"
#include "report_files.hpp"
#include "rows.hpp"

namespace accrue::app {

namespace {

struct Options {
    RowSource rows;
    std::vector<std::string> inputs;
    FitOptions fit;
    std::string output;
    std::string report;
    std::string figures;
    std::vector<std::string> later;
    std::string checkpoint;
    bool resume = false;
    int threads = 0;
    bool json = false;
    bool quiet = false;
    bool portable = false;
};

// The options of the table that the command has. Those that share a name are values of one, separated by commas.
void add_fit_options(CLI::App& command, FitOptions& options) {
    std::span<const FitOption> rest = fit_options();
    while (!rest.empty()) {
        const std::string& name = rest[0].command;
        const auto end = std::find_if(rest.begin(), rest.end(), [&](const FitOption& o) { return o.command != name; });
        const std::span<const FitOption> parts(rest.begin(), end);
        rest = rest.subspan(parts.size());
        if (name.empty()) continue;
        std::vector<std::string> help, types, standard;
        for (const FitOption& part : parts) {
            help.push_back(part.full_help().text());
            const std::string choices = fmt::format("{{{}}}", fmt::join(part.choice_names(), ","));
            types.push_back(part.choices == nullptr ? part.placeholder : choices);
            const nlohmann::ordered_json value = part.get({});
            standard.push_back(value.is_string()                     ? value.get<std::string>()
                               : value.is_array() || value.is_null() ? "none"
                                                                     : value.dump());
        }
        if (parts[0].type() == OptionType::flag) {
            command.add_flag_callback(
                name, [&options, parts] { parts[0].set(options, !parts[0].get({}).get<bool>()); }, help[0]);
            continue;
        }
        const std::string defaults = fmt::format("{}", fmt::join(standard, ","));
        const auto set = [&options, parts, name, defaults](const std::string& text) {
            const auto values = parts.size() == 1 ? std::vector{text} : CLI::detail::split(text, ',');
            if (values.size() != parts.size())
                throw CLI::ValidationError(name, fmt::format("takes {} values, such as {}", parts.size(), defaults));
            as_usage([&] {
                for (std::size_t k = 0; k < parts.size(); ++k) parts[k].set_text(options, values[k]);
            });
        };
        for (std::size_t k = 1; k < help.size(); ++k)
            help[k][0] = static_cast<char>(std::tolower(static_cast<unsigned char>(help[k][0])));
        command.add_option_function<std::string>(name, set, fmt::format("{}", fmt::join(help, " and ")))
            ->type_name(fmt::format("{}", fmt::join(types, ",")))
            ->default_str(defaults);
    }
}

// As many as were asked for, or as there is memory for starts beside each other.
int threads_within(std::size_t memory, const Options& options) {
    const auto given = options.threads > 0 ? static_cast<std::size_t>(options.threads)
                                           : std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
    std::size_t threads = given;
    while (threads > 1 && fit_bytes(options.inputs.size(), options.fit, threads) > memory) --threads;
    return threads == given ? options.threads : static_cast<int>(threads);
}

// What to run in place of "accrue fit archive.csv", and why.
std::string proposal_text(const RowSource& source) {
    const Proposal proposal = propose(source);
    std::string text = fmt::format("accrue: nothing was fitted, since no column was named. {} like this ({}{}):\n\n",
                                   source.files.size() == 1 ? display_name(source.files[0]) + " looks"
                                                            : fmt::format("The {} files look", source.files.size()),
                                   proposal.all_rows ? "" : "from the first ", counted(proposal.rows, "row"));
    std::vector<std::array<std::string, 4>> lines;
    std::array<std::size_t, 4> widths{};
    for (const ProposedColumn& column : proposal.columns) {
        lines.push_back(
            {printable(column.name), column.content, column.role.empty() ? "left out" : column.role, column.reason});
        for (std::size_t k = 0; k < widths.size(); ++k) widths[k] = std::max(widths[k], lines.back()[k].size());
    }
    for (const auto& [name, content, role, reason] : lines) {
        text +=
            fmt::format("  {:<{}}  {:<{}}  {:<{}}  {}", name, widths[0], content, widths[1], role, widths[2], reason);
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
    }
    if (!proposal.remarks.empty()) text += fmt::format("\n  {}\n", fmt::join(proposal.remarks, "\n  "));

    std::string command = command_line();
    const auto add = [&](const std::string& option, const std::string& value) {
        // An equals sign where the value could be taken for an option.
        if (!value.empty())
            command += fmt::format(" {}{}{}", option, value.starts_with('-') ? "=" : " ", shell_quoted(value));
    };
    const Roles& roles = proposal.roles;
    add("--prediction", roles.prediction);
    add("--observation", roles.observation);
    add("--error", roles.error);
    if (proposal.learn_mean) add("--mean", default_mean());
    add("--time", roles.time);
    add("--group", roles.group);
    add("--weight", roles.weight);
    add("--inputs", fmt::format("{}", fmt::join(proposal.inputs, ",")));
    if (proposal.missing == Missing::drop) add("--missing", "drop");
    add("-o", "model.json");
    return text + fmt::format("\nIf that is right, run:\n\n  {}\n", printable(command, std::string::npos));
}

// "network", or "network and polynomial, with weights 0.55 and 0.45,".
std::string forms_text(const FitResult& result) {
    if (result.pooled.empty()) return result.model.json()["configuration"]["form"].get<std::string>();
    std::vector<std::string> names, weights;
    for (const PooledForm& own : result.pooled) {
        names.push_back(own.form);
        weights.push_back(fmt::format("{:.2f}", own.weight));
    }
    return fmt::format("{}, with weights {},", fmt::join(names, " and "), fmt::join(weights, " and "));
}

// What other balances give.
std::string front_text(const std::vector<BalanceOutcome>& front) {
    if (front.empty()) return "";
    constexpr const char* kLine = "  {:<9} {:>11} {:>21} {:>21} {:>19}{}\n";
    std::string text =
        "\nBalances between accuracy (1) and reliability (0), out of sample, with standard errors. Difference: of the "
        "CRPS\n"
        "to that of the model.\n";
    text += fmt::format(kLine, "balance", "CRPS", "difference", "reliability score", "calibration error", "");
    const auto with_error = [](double value, double error) {
        return std::isfinite(error) ? fmt::format("{:.4g} ± {:.2g}", value, error) : fmt::format("{:.4g}", value);
    };
    for (const BalanceOutcome& own : front)
        text += fmt::format(kLine, own.balance, fmt::format("{:.5g}", own.crps),
                            own.taken ? "" : with_error(own.crps_difference, own.crps_difference_se),
                            with_error(own.rs, own.rs_se),
                            with_error(100 * own.calibration_error, 100 * own.calibration_error_se) + "%",
                            own.taken ? "  the model" : "");
    return text;
}

// Processes on one host have its memory and its cores together. What is a sample for want of memory must be the same
// for all.
void share_machine(const Processes* processes, Options& options) {
    if (processes == nullptr) return;
    require(std::find(options.rows.files.begin(), options.rows.files.end(), "-") == options.rows.files.end(),
            "standard input goes to one of the processes only: name files");
    const std::size_t here = processes_here();
    if (options.rows.memory == 0) {
        std::size_t least = options.rows.memory_limit() / here;
        for (const std::string& own : processes->exchange(fmt::format("{}", least)))
            least = std::min<std::size_t>(least, std::stoull(own));
        options.rows.memory = least;
    }
    if (options.threads == 0) {
        const std::size_t cores = std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
        options.threads = static_cast<int>(std::max<std::size_t>(cores / here, 1));
    }
}

// An archive may have thousands of columns; the model file and --json have all names.
std::string inputs_text(const std::vector<std::string>& names) {
    constexpr std::size_t kMax = 12;
    if (names.empty()) return "no inputs";
    const std::size_t shown = std::min(names.size(), kMax);
    const std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
    return shown == names.size() ? text : fmt::format("{} and {} more", text, names.size() - shown);
}

void run(Options& options) {
    const Processes* processes = join_processes();
    share_machine(processes, options);
    require_other_file(options.output, options.rows.files, "model");
    require_other_file(options.output, options.later, "model");
    require(options.report.empty() || options.report != options.output,
            fmt::format("-o and --report name the same file, {}: give them one each", display_name(options.output)));
    const bool first = is_first_of_all();
    ReportFiles report(first ? options.report : "", first ? options.figures : "", options.rows.files);
    require(!(options.json && options.output == "-"),
            "-o - and --json both write to standard output: give the model a file");
    expand_columns(options.rows, options.inputs);
    if (options.inputs.empty() && needs_inputs(options.fit))
        options.inputs = default_fit_inputs(default_inputs(options.rows, takes_categories(options.fit)),
                                            options.rows.roles, options.fit);
    std::optional<AtomicFile> file;
    if (first) file.emplace(options.output);  // before the work: a bad place is known at once
    const std::vector<Input> inputs = named_inputs(options.rows, options.inputs);
    for (std::size_t k = 0; k < inputs.size(); ++k) options.inputs[k] = inputs[k].name();
    const std::size_t columns = max_columns(inputs, options.rows.missing == Missing::impute);
    std::size_t bytes_per_row = fit_bytes_per_row(columns, options.fit);
    if (!options.rows.roles.observation_error.empty()) bytes_per_row += 4 * sizeof(double);
    if (!options.report.empty() || !options.figures.empty()) bytes_per_row += fit_report_bytes_per_row(inputs.size());
    const std::size_t memory = options.rows.memory_limit();
    ReadRows rows =
        read_archive(options.rows, inputs, bytes_per_row, options.fit.seed, fit_bytes(columns, options.fit));
    if (!options.rows.roles.observation_error.empty())
        rows.remarks.emplace_back(fmt::format(
            "sigma and all figures are without the observation error '{}': forecasts are of the quantity, not of its "
            "measurement",
            printable(options.rows.roles.observation_error)));
    if (takes_categories(options.fit))
        for (const std::string& offer : offered_inputs(options.rows, inputs)) rows.remarks.emplace_back(offer);

    const std::size_t rows_bytes =
        rows.archive.errors.size() * (bytes_per_row + options.inputs.size() * sizeof(double));
    std::optional<FitResult> fitted;
    with_threads(threads_within(memory - std::min(memory, rows_bytes), options), [&] {
        Progress progress(options.quiet || !first);
        Context context(std::ref(progress));
        context.processes = processes;
        context.checkpoint = options.checkpoint;
        context.resume = options.resume;
        fitted = fit(rows.archive, options.fit, context);
    });
    if (!first) return;
    if (!options.later.empty()) {
        RowSource source = options.rows;
        source.files = options.later;
        const ReadRows later = read_archive(source, inputs, bytes_per_row, options.fit.seed);
        with_threads(options.threads, [&] { judge_later(*fitted, later.archive); });
    }
    const FitResult& result = *fitted;
    file->write(result.model.text());
    file->commit();
    if (!options.checkpoint.empty()) remove_checkpoint(options.checkpoint);
    std::string reported;
    if (report.wanted()) {
        const ReportText text = report_text(options.rows, rows, fmt::format("Fit report: {}", options.output));
        reported = report.write(fit_report_data(text, rows.archive, result));
    }

    if (options.json) {
        nlohmann::ordered_json json = to_json(result.verification);
        json["dropped"] = rows.dropped;
        if (rows.archive.sampled_from > 0) json["sampled_from"] = rows.archive.sampled_from;
        if (!rows.remarks.empty()) json["notes"] = rows.remarks;
        json["verdict"] = {{"summary", result.verdict.summary}, {"remarks", result.verdict.remarks}};
        json["model"] = options.output;
        json["inputs"] = options.inputs;
        json["fit"] = result.model.json()["fit"];
        // A label that is not UTF-8 must not cost the figures.
        print(json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
        return;
    }
    if (options.output == "-") return;
    std::size_t kept = 0;
    for (const StartOutcome& start : result.starts) kept += start.kept ? 1 : 0;
    std::string text =
        fmt::format("{}\n{}{} of {}; {} recipe, {} of {} starts kept\n\n", rows.title, remark_lines(rows),
                    forms_text(result), inputs_text(options.inputs), options.fit.recipe, kept, result.starts.size());
    text += lab_report(result.verification, result.verdict, terminal_width());
    text += front_text(result.balance_front);
    if (result.later)
        text += "\nLater rows:\n\n" + lab_report(result.later->verification, result.later->verdict, terminal_width());
    text += fmt::format("\nModel written to {}. Forecast with: accrue predict {} NEW.csv -o OUT.csv\n", options.output,
                        options.output);
    print(text + reported);
}

}  // namespace

void add_fit(CLI::App& app, char** argv) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("fit", "Learn sigma(x) from an archive; verify it; write a model file");
    add_row_options(*command, options->rows, "Archives (CSV or NetCDF), pooled into one table; - is standard input",
                    TimeUse::folds);
    add_columns(
        *command, "--inputs", options->inputs,
        "Columns that sigma may depend on, by name, as patterns (P*) or computed (sqrt(x)), and what each is where it "
        "is not a number: station:category, wdir:cyclic(360), time:season, time:hour (docs/inputs.md); default: the "
        "prediction and every numeric column that holds no times and has no role other than --by, of NetCDF also names "
        "of stations and the like; for a constant without --bias linear or --mean: none")
        ->type_name("COLUMN[:KIND],...");
    add_fit_options(*command, options->fit);
    command->add_flag("--portable", options->portable,
                      "Same bytes on every x86-64 machine: use only the instructions that all of them have; takes "
                      "2.5 times as long as with AVX2, 4 times as long as with AVX-512");
    add_threads(*command, options->threads);
    command
        ->add_option("--checkpoint", options->checkpoint,
                     "Keep every start that has ended in this folder, until the model is written; --resume continues "
                     "a fit that was interrupted")
        ->type_name("FOLDER");
    command->add_flag("--resume", options->resume,
                      "Continue the fit that --checkpoint holds, if there is one; the model is the same");
    const CLI::Option* output =
        command
            ->add_option("-o,--output", options->output, "Model file to write; - is standard output; needed for a fit")
            ->type_name("FILE");
    add_repeatable(*command, "--later", options->later,
                   "Rows from after the model that predicts was made, with the same columns: sigma is rescaled where "
                   "their errors ask for it, and verified on them; may be repeated")
        ->type_name("FILE");
    command->add_option("--report", options->report, "Also draw the out-of-fold verification: one HTML page")
        ->type_name("FILE");
    command->add_option("--figures", options->figures, "Also write the charts of that page as SVG and PNG")
        ->type_name("FOLDER");
    command->add_flag("--json", options->json, "Print one JSON object in place of the report");
    command->add_flag("--quiet", options->quiet, "No progress");
    command->footer(
        "Learns how large the errors y - mu are, as a function of the inputs, so that a prediction mu\n"
        "becomes a distribution: N(mu, sigma(x)^2), or what --family, --bias, bounds and --recalibrate make\n"
        "of it. The report is honest: each row is scored by a model that never saw it (or, in the paper's\n"
        "recipe, on the test set). The model file is the same, byte for byte, for any number of threads.\n"
        "\n"
        "Rows that err together (one storm, one start of a simulation) must not be split between folds: name\n"
        "what they share with --group. If the future has to be forecast from the past, name the time with\n"
        "--time: blocks of time then decide, and only what --fold-group names is kept whole too. docs/groups.md\n"
        "explains these. Where errors are biased, skewed or heavy-tailed, --family auto --bias auto learns\n"
        "location, skew and tails too, if held-out rows bear it out (docs/distributions.md). For intervals with\n"
        "a promised coverage: --recalibrate conformal --calibration-share 0.25 (docs/recalibration.md).\n"
        "\n"
        "Predictions must not come from a model that was trained on the archive's own rows: its errors are too\n"
        "small there, and no table can show it. Where that cannot be helped, give rows from after it was made\n"
        "with --later.\n"
        "\n"
        "Started by mpirun, processes share the starts of one fit: the model is the same, byte for byte, for any\n"
        "number of them (docs/cluster.md).\n"
        "\n"
        "With files and nothing else it fits nothing: it looks at the columns and proposes a whole command.\n"
        "\n"
        "Examples:\n"
        "  accrue fit archive.csv --inputs lead_time,wind --prediction mu --observation y -o model.json\n"
        "  accrue fit archive.csv --prediction mu --observation y --recalibrate conformal \\\n"
        "      --calibration-share 0.25 -o model.json\n"
        "  accrue fit a.nc b.nc --error e --group station --time time --bias linear -o model.json\n"
        "  accrue fit archive.csv --inputs lead_time,wind --prediction mu --observation y --time date \\\n"
        "      --fold-group storm --by station --by season -o model.json --report fit.html");
    command->callback([command, options, output, argv] {
        if (options->portable) start_portable(argv);
        // Nothing but files, and how they are read.
        const std::vector<CLI::Option*> given = command->parse_order();
        const auto says_how_to_read = [](const CLI::Option* option) {
            return !option->nonpositional() || option->check_lname("no-header") || option->check_lname("isolate");
        };
        if (options->rows.files.front() != "-" && std::all_of(given.begin(), given.end(), says_how_to_read)) {
            say(proposal_text(options->rows));
            constexpr int kBadUsage = 2;
            throw CLI::RuntimeError(kBadUsage);
        }
        if (output->empty()) throw CLI::RequiredError("--output");
        require_no_column_among_files(options->rows, options->inputs);
        as_usage([&] { require_roles(options->rows.roles, options->fit); });
        if (options->resume && options->checkpoint.empty()) throw CLI::RequiresError("--resume", "--checkpoint");
        with_threads(options->threads, [&] { run(*options); });
    });
}

}  // namespace accrue::app
