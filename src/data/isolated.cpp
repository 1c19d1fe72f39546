#include "data/isolated.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tbb/global_control.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <optional>
#include <span>
#include <type_traits>

#include "accrue/error.hpp"
#include "accrue/messages.hpp"
#include "accrue/program.hpp"
#include "core/descriptors.hpp"
#include "core/error.hpp"
#include "data/files.hpp"

namespace accrue::data {

namespace {

constexpr std::uint64_t kMemory = std::uint64_t{2} << 30U;  // beyond what the process has when it begins
constexpr std::uint64_t kSeconds = 60;                      // of processor time ...
constexpr std::uint64_t kBytesPerSecond = 100'000;          // ... and one more for so many bytes of the file
constexpr std::uint64_t kLongestMessage = std::uint64_t{1} << 32U;

// What the child says, before so many bytes: some of its result, the end of it, or an error.
enum class Mark : char { data = 'D', end = 'E', bad_input = 'I', failure = 'M' };

std::uint64_t seconds_for(const std::string& file) {
    struct stat status {};
    const bool known = ::stat(file.c_str(), &status) == 0 && status.st_size > 0;
    return kSeconds + (known ? static_cast<std::uint64_t>(status.st_size) / kBytesPerSecond : 0);
}

void lower_limit(__rlimit_resource_t resource, std::uint64_t most) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) != 0) return;
    limit.rlim_cur = std::min<rlim_t>({limit.rlim_cur, limit.rlim_max, most});
    ::setrlimit(resource, &limit);
}

std::uint64_t used_data() {
    std::uint64_t total = 0, resident = 0, shared = 0, code = 0, library = 0, data = 0;
    std::ifstream pages("/proc/self/statm");
    pages >> total >> resident >> shared >> code >> library >> data;
    return data * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void say(int pipe, Mark mark, std::string_view bytes) {
    const std::uint64_t size = bytes.size();
    std::array<char, 1 + sizeof size> head{};
    head[0] = static_cast<char>(mark);
    std::memcpy(&head[1], &size, sizeof size);
    // Nobody listens: the other process has ended or has had enough.
    if (!write_all(pipe, {head.data(), head.size()}) || !write_all(pipe, bytes)) ::_exit(1);
}

int child_pipe = -1;

// Where memory ends in a function that must not throw.
[[noreturn]] void end_child() noexcept {
    if (const std::exception_ptr error = std::current_exception()) {
        try {
            std::rethrow_exception(error);
        } catch (const std::bad_alloc&) {
            say(child_pipe, Mark::failure, "not enough memory");
            ::_exit(0);
        } catch (...) {  // a defect
        }
    }
    std::abort();
}

[[noreturn]] void be_child(int pipe, const std::string& file, const std::function<void(const Send&)>& work) {
    std::set_new_handler(nullptr);  // a program's may clean up, or say what the other process is to say
    child_pipe = pipe;
    std::set_terminate(end_child);
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_CPU, seconds_for(file));
    lower_limit(RLIMIT_DATA, used_data() + kMemory);
    // The threads of the other process are not here.
    const tbb::global_control alone(tbb::global_control::max_allowed_parallelism, 1);
    try {
        work([pipe](std::string_view bytes) { say(pipe, Mark::data, bytes); });
        say(pipe, Mark::end, {});
    } catch (const InputError& error) {
        say(pipe, Mark::bad_input, error.what());
    } catch (const std::bad_alloc&) {
        say(pipe, Mark::failure, "not enough memory");
    } catch (const std::exception& error) {
        say(pipe, Mark::failure, error.what());
    }
    ::_exit(0);  // temporary files are the other process's
}

class Child {
public:
    Child(const std::string& file, const std::function<void(const Send&)>& work) {
        std::array<int, 2> ends{};
        const core::StandardDescriptors taken;
        if (::pipe2(ends.data(), O_CLOEXEC) != 0)
            throw MachineError(fmt::format("no pipe for an isolated process: {}", core::system_message(errno)));
        process_ = ::fork();
        if (process_ == 0) {
            ::close(ends[0]);
            be_child(ends[1], file, work);
        }
        const int reason = errno;
        ::close(ends[1]);
        pipe_ = ends[0];
        if (process_ > 0) {
            set_running_child(process_);
            return;
        }
        ::close(pipe_);
        throw MachineError(fmt::format("no isolated process: {}", core::system_message(reason)));
    }
    ~Child() {
        ::close(pipe_);
        if (process_ > 0) ::kill(process_, SIGKILL);
        wait();
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    // Whether all of it came.
    bool read(char* place, std::size_t bytes) const {
        while (bytes > 0) {
            const ssize_t got = ::read(pipe_, place, bytes);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) return false;
            place += got;
            bytes -= static_cast<std::size_t>(got);
        }
        return true;
    }
    // How it ended, as waitpid() has it.
    int wait() {
        int status = 0;
        while (process_ > 0 && ::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
        }
        process_ = 0;
        set_running_child(0);
        return status;
    }

private:
    pid_t process_ = 0;
    int pipe_ = -1;
};

[[noreturn]] void refuse_crash(const std::string& file, int status) {
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
        core::refuse("{} cannot be read: after {} s of processor time there was no end ({})", display_name(file),
                     seconds_for(file), core::option("isolate"));
    core::refuse(
        "{} cannot be read: the process that read it for {} crashed{}; the file is damaged, or made to do harm",
        display_name(file), core::option("isolate"),
        WIFSIGNALED(status) ? fmt::format(" ({})", ::strsignal(WTERMSIG(status))) : "");
}

// Takes values from bytes that may be anything.
class Reader {
public:
    Reader(const std::string& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

    template <typename T>
    T value() {
        static_assert(std::is_trivially_copyable_v<T>);
        T result{};
        std::memcpy(&result, take(sizeof result).data(), sizeof result);
        return result;
    }
    std::string_view text() { return take(value<std::uint64_t>()); }
    std::string_view take(std::uint64_t bytes) {
        require(bytes <= bytes_.size());
        const std::string_view taken = bytes_.substr(0, bytes);
        bytes_.remove_prefix(bytes);
        return taken;
    }
    template <typename T>
    void append(std::vector<T>& values, std::uint64_t count) {
        require(count <= bytes_.size() / sizeof(T));
        const std::size_t before = values.size();
        values.resize(before + count);
        if (count > 0) std::memcpy(&values[before], take(count * sizeof(T)).data(), count * sizeof(T));
    }
    bool is_empty() const { return bytes_.empty(); }
    void require(bool rule) const {
        core::require(rule, "{} cannot be read: the process that read it for {} sent what makes no sense",
                      display_name(file_), core::option("isolate"));
    }

private:
    const std::string& file_;
    std::string_view bytes_;
};

template <typename T>
void put(std::string& bytes, const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}
void put_text(std::string& bytes, std::string_view text) {
    put(bytes, static_cast<std::uint64_t>(text.size()));
    bytes.append(text);
}
template <typename T>
void put_all(std::string& bytes, std::span<const T> values) {
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

void put_run(std::string& bytes, const RowRun& run) {
    for (const std::size_t number : {run.used, run.row, run.line}) put(bytes, static_cast<std::uint64_t>(number));
}
RowRun take_run(Reader& reader) {
    RowRun run;
    for (std::size_t* number : {&run.used, &run.row, &run.line}) *number = reader.value<std::uint64_t>();
    return run;
}

// Rows of a table, where they stand, and the labels that were not sent before.
void send_rows(const TableBuilder& table, const Table& slab, std::vector<std::size_t>& labels_sent, const Send& send) {
    std::string bytes;
    put(bytes, static_cast<std::uint64_t>(slab.rows()));
    put(bytes, static_cast<std::uint64_t>(slab.dropped()));
    const RowPlaces::Dimensions grid = table.places->grid();
    put(bytes, static_cast<std::uint64_t>(grid.size()));
    for (const auto& [name, size] : grid) {
        put_text(bytes, name);
        put(bytes, static_cast<std::uint64_t>(size));
    }
    put(bytes, static_cast<std::uint64_t>(table.runs.size()));
    for (const RowRun& run : table.runs) put_run(bytes, run);
    for (const TableBuilder::NumberColumn& column : table.numbers) {
        put(bytes, static_cast<std::uint8_t>(column.form));
        put_all(bytes, slab.numbers(column.name));
    }
    for (std::size_t i = 0; i < table.texts.size(); ++i) {
        const TextColumn& column = slab.text(table.texts[i].name);
        put(bytes, static_cast<std::uint64_t>(column.labels.size() - labels_sent[i]));
        for (; labels_sent[i] < column.labels.size(); ++labels_sent[i]) put_text(bytes, column.labels[labels_sent[i]]);
        put_all(bytes, std::span<const std::uint32_t>(column.codes));
    }
    send(bytes);
}

}  // namespace

void run_isolated(const std::string& file, const std::function<void(const Send& send)>& work,
                  const std::function<void(std::string_view bytes)>& receive) {
    Child child(file, work);
    std::string bytes;
    for (;;) {
        std::array<char, 1 + sizeof(std::uint64_t)> head{};
        if (!child.read(head.data(), head.size())) refuse_crash(file, child.wait());
        std::uint64_t size = 0;
        std::memcpy(&size, &head[1], sizeof size);
        const auto mark = static_cast<Mark>(head[0]);
        Reader(file, {}).require(size <= kLongestMessage && (mark == Mark::data || mark == Mark::end ||
                                                             mark == Mark::bad_input || mark == Mark::failure));
        bytes.resize(size);
        if (!child.read(bytes.data(), bytes.size())) refuse_crash(file, child.wait());
        switch (mark) {
            case Mark::data:
                receive(bytes);
                break;
            case Mark::end:
                return;
            case Mark::bad_input:
                throw InputError(bytes);
            case Mark::failure:
                throw MachineError(bytes);
        }
    }
}

void read_isolated(const std::string& file, const ReadOptions& options, TableBuilder& table,
                   void (*read)(const std::string& file, const ReadOptions& options, TableBuilder& table)) {
    const auto work = [&](const Send& send) {
        std::vector<std::size_t> labels_sent(table.texts.size(), 0);
        std::vector<ColumnRequest> columns;
        for (const TableBuilder::NumberColumn& column : table.numbers)
            columns.push_back({column.name, column.kind, column.rule, column.may_be_missing});
        for (const TableBuilder::LabelColumn& column : table.texts)
            columns.push_back({column.name, Kind::text, Rule::any, column.may_be_missing});
        std::optional<TableBuilder> own;
        own.emplace(columns, [&](const Table& slab) { send_rows(*own, slab, labels_sent, send); });
        // What is known of the files before.
        own->first = table.first;
        for (std::size_t i = 0; i < table.numbers.size(); ++i) own->numbers[i].form = table.numbers[i].form;
        read(file, options, *own);
        // Rows that were dropped behind the last slab are counted too.
        const Table rest = std::move(*own).finish();
        send_rows(*own, rest, labels_sent, send);
    };
    const std::size_t dropped_before = table.dropped;
    bool has_begun = false;
    std::vector<std::vector<std::uint32_t>> codes(table.texts.size());  // ours, for each of the child's
    const auto receive = [&](std::string_view bytes) {
        Reader reader(file, bytes);
        const auto rows = reader.value<std::uint64_t>();
        const auto dropped = reader.value<std::uint64_t>();
        RowPlaces::Dimensions grid;
        for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
            const std::string_view name = reader.text();
            grid.emplace_back(name, reader.value<std::uint64_t>());
            reader.require(grid.back().second > 0);
        }
        if (!has_begun) table.places->begin_file(file, std::move(grid));
        has_begun = true;
        RowRun last;
        for (auto left = reader.value<std::uint64_t>(); left > 0; --left) {
            RowRun run = take_run(reader);
            reader.require(run.used < rows && (last.row == 0 || (run.used > last.used && run.row > last.row)) &&
                           run.row - last.row >= run.used - last.used && run.row > 0 && run.line == 0);
            last = run;
            run.used += table.rows;
            table.runs.push_back(run);
        }
        for (TableBuilder::NumberColumn& column : table.numbers) {
            const auto form = reader.value<std::uint8_t>();
            reader.require(form <= static_cast<std::uint8_t>(TimeForm::iso));
            column.form = static_cast<TimeForm>(form);
            reader.append(column.values, rows);
        }
        for (std::size_t i = 0; i < table.texts.size(); ++i) {
            for (auto left = reader.value<std::uint64_t>(); left > 0; --left)
                codes[i].push_back(table.texts[i].code(reader.text()));
            std::vector<std::uint32_t> theirs;
            reader.append(theirs, rows);
            for (const std::uint32_t code : theirs) {
                reader.require(code < codes[i].size());
                table.texts[i].column.codes.push_back(codes[i][code]);
            }
        }
        reader.require(reader.is_empty());
        table.rows += rows;
        table.dropped = dropped_before + dropped;
        table.hand_over();
    };
    run_isolated(file, work, receive);
}

std::vector<std::string> list_isolated(const std::string& file, const ReadOptions& options,
                                       std::vector<std::string> (*list)(const std::string& file,
                                                                        const ReadOptions& options)) {
    std::vector<std::string> names;
    run_isolated(
        file,
        [&](const Send& send) {
            for (const std::string& name : list(file, options)) send(name);
        },
        [&](std::string_view name) { names.emplace_back(name); });
    return names;
}

}  // namespace accrue::data
