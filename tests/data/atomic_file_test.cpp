#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "accrue/error.hpp"
#include "data/files.hpp"
#include "data/input_file.hpp"
#include "temporary_folder.hpp"

// Every fsync() of this program and of the library that it tests comes by here.
static std::atomic<int> synced_folders = 0;
extern "C" int fsync(int descriptor) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode)) ++synced_folders;
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}

// And every unlinkat(), which says whether standard input was open then.
static std::atomic<int> removals_with_input_open = 0, removals = 0;
extern "C" int unlinkat(int folder, const char* name, int flags) noexcept {
    ++removals;
    if (::fcntl(STDIN_FILENO, F_GETFD) >= 0) ++removals_with_input_open;
    return static_cast<int>(::syscall(SYS_unlinkat, folder, name, flags));
}

namespace accrue::data {
namespace {

class AtomicFiles : public testing::Test {
protected:
    static mode_t mode(const std::string& path) {
        struct stat status {};
        ::stat(path.c_str(), &status);
        return status.st_mode & 0777U;
    }
    static std::string input_error(const std::string& path) {
        try {
            AtomicFile file(path);
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    }

    test::TemporaryFolder folder_;
};

TEST_F(AtomicFiles, TheFileAppearsWithCommit) {
    const mode_t mask = ::umask(027);
    {
        AtomicFile file(folder_.path("out"));
        file.write("one\n");
        file.write("");
        file.write("two\n");
        EXPECT_FALSE(std::filesystem::exists(folder_.path("out")));
        file.commit();
    }
    ::umask(mask);
    EXPECT_EQ(folder_.content("out"), "one\ntwo\n");
    EXPECT_EQ(mode(folder_.path("out")), 0640U);
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFiles, NoFileGetsTheDescriptorOfAClosedStandardStream) {
    folder_.file("in", "text");
    for (const int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        const int saved = ::fcntl(standard, F_DUPFD_CLOEXEC, 10);
        ::close(standard);
        int written = -1;
        int device = -1;
        int read = -1;
        bool still_closed = false;
        {
            const AtomicFile file(folder_.path("out"));
            written = file.descriptor();
            device = AtomicFile("/dev/null").descriptor();
            read = InputFile(folder_.path("in")).descriptor();
            still_closed = ::fcntl(standard, F_GETFD) < 0;
        }
        ::dup2(saved, standard);
        ::close(saved);
        EXPECT_GT(written, STDERR_FILENO) << standard;
        EXPECT_GT(device, STDERR_FILENO) << standard;
        EXPECT_GT(read, STDERR_FILENO) << standard;
        EXPECT_TRUE(still_closed) << "a library leaves the streams as they are";
    }
}

TEST_F(AtomicFiles, OneCallWritesAFile) {
    write_file(folder_.path("out"), "all of it");
    EXPECT_EQ(folder_.content("out"), "all of it");
    // Errors tell what the system said.
    const auto failed = [](const std::string& path) {
        try {
            write_file(path, "");
        } catch (const Error& error) {
            return error.error_number();
        }
        return 0;
    };
    EXPECT_EQ(failed(folder_.path("none/out")), ENOENT);
    EXPECT_EQ(failed(folder_.folder()), EISDIR);
    EXPECT_EQ(failed(folder_.path("out")), 0);
}

TEST_F(AtomicFiles, WithoutCommitTheOldFileStays) {
    folder_.file("out", "old");
    {
        AtomicFile file(folder_.path("out"));
        file.write("new");
    }
    EXPECT_EQ(folder_.content("out"), "old");
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFiles, AReplacedFileKeepsItsPermissions) {
    ::chmod(folder_.file("out", "old").c_str(), 0604);
    AtomicFile file(folder_.path("out"));
    file.write("new");
    file.commit();
    EXPECT_EQ(folder_.content("out"), "new");
    EXPECT_EQ(mode(folder_.path("out")), 0604U);
}

TEST_F(AtomicFiles, ALinkStaysAndItsFileIsReplaced) {
    std::filesystem::create_directory(folder_.path("sub"));
    folder_.file("sub/real", "old");
    std::filesystem::create_symlink("sub/real", folder_.path("link"));
    std::filesystem::create_symlink("link", folder_.path("again"));
    std::filesystem::create_symlink("sub/new", folder_.path("dangling"));
    for (const char* name : {"again", "dangling"}) {
        AtomicFile file(folder_.path(name));
        file.write("new");
        file.commit();
        EXPECT_TRUE(std::filesystem::is_symlink(folder_.path(name)));
    }
    EXPECT_EQ(folder_.content("sub/real"), "new");
    EXPECT_EQ(folder_.content("sub/new"), "new");
}

TEST_F(AtomicFiles, SeveralFilesCanBeOpenAtOnce) {
    AtomicFile one(folder_.path("one"));
    AtomicFile two(folder_.path("two"));
    one.write("1");
    two.write("2");
    one.commit();
    two.commit();
    EXPECT_EQ(folder_.content("one"), "1");
    EXPECT_EQ(folder_.content("two"), "2");
}

TEST_F(AtomicFiles, ANameAsLongAsAllowedWorks) {
    const std::string name(255, 'n');
    AtomicFile file(folder_.path(name));
    file.write("x");
    file.commit();
    EXPECT_EQ(folder_.content(name), "x");
}

TEST_F(AtomicFiles, BadPlacesAreRefusedAtOnce) {
    EXPECT_EQ(input_error(folder_.folder()), "cannot write " + folder_.folder() + ": it is a directory");
    EXPECT_EQ(input_error(folder_.path("none/out")),
              "cannot write " + folder_.path("none/out") + ": there is no folder '" + folder_.path("none") + "'");
    EXPECT_EQ(input_error(""), "the name of an output file is empty");
    EXPECT_EQ(input_error(folder_.file("file", "") + "/out"),
              "cannot write " + folder_.path("file/out") + ": there is no folder '" + folder_.path("file") + "'");
    if (::geteuid() != 0) {  // root may write everywhere
        ::chmod(folder_.file("protected", "x").c_str(), 0444);
        EXPECT_EQ(input_error(folder_.path("protected")),
                  "cannot write " + folder_.path("protected") + ": Permission denied");
    }
}

TEST_F(AtomicFiles, DevicesAreWrittenDirectly) {
    AtomicFile file("/dev/null");
    file.write("x");
    file.commit();
    EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

TEST_F(AtomicFiles, PipesAreWrittenDirectly) {
    const std::string pipe = folder_.path("pipe");
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    ASSERT_GE(reader, 0);
    {
        AtomicFile file(pipe);
        file.write("through");
        file.commit();
    }
    char text[16] = {};
    EXPECT_EQ(::read(reader, text, sizeof text), 7);
    EXPECT_STREQ(text, "through");
    ::close(reader);
}

TEST_F(AtomicFiles, AFullDiskIsTheMachinesFault) {
    if (!std::filesystem::exists("/dev/full")) GTEST_SKIP();
    AtomicFile file("/dev/full");
    try {
        file.write("x");
        file.commit();
        FAIL();
    } catch (const MachineError& error) {
        EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
    }
}

TEST_F(AtomicFiles, AFailedWriteLeavesTheOldFileAndNothingElse) {
    folder_.file("out", "old");
    rlimit before{};
    ::getrlimit(RLIMIT_FSIZE, &before);
    auto* const handler = ::signal(SIGXFSZ, SIG_IGN);
    {
        AtomicFile file(folder_.path("out"));
        const rlimit small{1000, before.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &small);
        EXPECT_THROW(
            {
                file.write(std::string(100000, 'x'));
                file.commit();
            },
            MachineError);
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    ::signal(SIGXFSZ, handler);
    EXPECT_EQ(folder_.content("out"), "old");
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFiles, ASignalHandlerCanRemoveTemporaryFiles) {
    folder_.file("out", "old");
    AtomicFile file(folder_.path("out"));
    file.write("new");
    EXPECT_EQ(folder_.files(), 2U);
    remove_temporary_files();
    EXPECT_EQ(folder_.files(), 1U);
    EXPECT_THROW(file.commit(), MachineError);
    EXPECT_EQ(folder_.content("out"), "old");
}

TEST_F(AtomicFiles, FinishedFilesAreSafeFromTheSignalHandler) {
    for (int i = 0; i < 100; ++i) {  // more than there are slots
        AtomicFile file(folder_.path("out"));
        file.write("new");
        if (i % 2 == 0) file.commit();
    }
    remove_temporary_files();
    EXPECT_EQ(folder_.content("out"), "new");
    EXPECT_EQ(folder_.files(), 1U);
}

// A process that opens a temporary file (or folder) and then waits; killed at the end.
class Owner {
public:
    explicit Owner(const std::function<void()>& open_and_wait) {
        std::array<int, 2> ends{};
        if (::pipe(ends.data()) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ == 0) {
            ready_ = ends[1];
            open_and_wait();
            ::_exit(0);
        }
        ::close(ends[1]);
        char byte = 0;
        if (::read(ends[0], &byte, 1) != 1) throw std::runtime_error("the child did not begin");
        ::close(ends[0]);
    }
    ~Owner() { kill(); }
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;

    void kill() {
        if (child_ <= 0) return;
        ::kill(child_, SIGKILL);
        ::waitpid(child_, nullptr, 0);
        child_ = 0;
    }
    // For the child: all is open.
    static void wait() {
        (void)!::write(ready_, "x", 1);
        for (;;) ::pause();
    }

private:
    static inline int ready_ = -1;
    pid_t child_ = 0;
};

TEST_F(AtomicFiles, LeftoversOfAKilledRunGoWithTheNextOfTheSameOutput) {
    const auto open_and_wait = [&] {
        AtomicFile file(folder_.path("out"));
        file.write("half");
        Owner::wait();
    };
    Owner first(open_and_wait);
    Owner second(open_and_wait);
    EXPECT_EQ(folder_.files(), 2U);
    { const AtomicFile same(folder_.path("out")); }
    EXPECT_EQ(folder_.files(), 2U) << "their owners live";
    first.kill();
    EXPECT_EQ(folder_.files(), 2U) << "nobody can clean up after kill -9";
    { const AtomicFile other(folder_.path("other")); }
    EXPECT_EQ(folder_.files(), 2U) << "another output is not its business";
    { const AtomicFile same(folder_.path("out")); }
    EXPECT_EQ(folder_.files(), 1U) << "the second owner lives";
    second.kill();
    {
        AtomicFile same(folder_.path("out"));
        EXPECT_EQ(folder_.files(), 1U);
        same.commit();
    }
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFiles, LeftoversAreNotOpenedAsAStandardStreamThatIsClosed) {
    ::setenv("TMPDIR", folder_.folder().c_str(), 1);
    Owner owner([&] {
        const TemporaryFolder scratch;
        AtomicFile file(folder_.path("out"));
        Owner::wait();
    });
    owner.kill();
    EXPECT_EQ(folder_.files(), 2U);
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    removals = removals_with_input_open = 0;
    {
        const TemporaryFolder mine;
        const AtomicFile same(folder_.path("out"));
    }
    ::dup2(input, STDIN_FILENO);
    ::close(input);
    EXPECT_GE(removals, 2) << "of a file and of a folder";
    EXPECT_EQ(removals_with_input_open, 0);
    EXPECT_EQ(folder_.files(), 0U);
    ::unsetenv("TMPDIR");
}

TEST_F(AtomicFiles, LeftoversOfAnotherProcessGoAtASuddenEnd) {
    Owner owner([&] {
        AtomicFile file(folder_.path("out"));
        Owner::wait();
    });
    const Leftovers leftovers(folder_.path("out"));
    remove_temporary_files();
    EXPECT_EQ(folder_.files(), 1U) << "its owner lives";
    owner.kill();
    remove_temporary_files();
    EXPECT_EQ(folder_.files(), 0U);
}

TEST_F(AtomicFiles, AKilledRunsTemporaryFolderGoesWithTheNext) {
    ::setenv("TMPDIR", folder_.folder().c_str(), 1);
    Owner owner([] {
        const TemporaryFolder scratch;
        AtomicFile file(scratch / "inside");
        Owner::wait();
    });
    { const TemporaryFolder mine; }
    EXPECT_EQ(folder_.files(), 1U) << "its owner lives";
    owner.kill();
    {
        const TemporaryFolder mine;
        EXPECT_EQ(folder_.files(), 1U);
    }
    EXPECT_EQ(folder_.files(), 0U);
    ::unsetenv("TMPDIR");
}

// Between the making of a folder and its lock another run may take it for a leftover; the next one is then taken.
TEST_F(AtomicFiles, RunsThatBeginTogetherAllGetAFolder) {
    ::setenv("TMPDIR", folder_.folder().c_str(), 1);
    constexpr std::size_t kTogether = 8;
    std::vector<std::string> failures(kTogether);
    std::vector<std::thread> runs;
    for (std::string& failure : failures)
        runs.emplace_back([&failure] {
            try {
                for (int i = 0; i < 300; ++i) {
                    const TemporaryFolder mine;
                    if (!std::filesystem::exists(mine / ".")) failure = "it is gone";
                }
            } catch (const std::exception& error) {
                failure = error.what();
            }
        });
    for (std::thread& run : runs) run.join();
    for (const std::string& failure : failures) EXPECT_EQ(failure, "");
    EXPECT_EQ(folder_.files(), 0U);
    ::unsetenv("TMPDIR");
}

TEST_F(AtomicFiles, ASignalHandlerRemovesFoldersWithAllThatIsInThem) {
    ::setenv("TMPDIR", folder_.folder().c_str(), 1);
    {
        const TemporaryFolder scratch;
        std::filesystem::create_directories(scratch / "one/two");
        for (int i = 0; i < 300; ++i)
            folder_.file(std::filesystem::relative(scratch / ("one/two/" + std::to_string(i)), folder_.folder()), "x");
        remove_temporary_files();
        EXPECT_EQ(folder_.files(), 0U);
    }
    ::unsetenv("TMPDIR");
}

TEST_F(AtomicFiles, TheFolderIsOnDiskAfterARename) {
    AtomicFile file(folder_.path("out"));
    file.write("x");
    const int before = synced_folders;
    file.commit();
    EXPECT_EQ(synced_folders, before + 1);
}

TEST_F(AtomicFiles, ASetIsReplacedAsAWholeOrNotAtAll) {
    folder_.file("a", "old a");
    folder_.file("b", "old b");
    const auto open = [&] {
        std::vector<std::unique_ptr<AtomicFile>> files;
        for (const char* name : {"a", "b", "c"}) {
            files.push_back(std::make_unique<AtomicFile>(folder_.path(name)));
            files.back()->write(std::string("new ") + name);
        }
        return files;
    };
    {
        const auto files = open();
        std::filesystem::create_directory(folder_.path("c"));  // which no file can replace
        EXPECT_THROW(commit_together(files), MachineError);
    }
    EXPECT_EQ(folder_.content("a"), "old a");
    EXPECT_EQ(folder_.content("b"), "old b");
    EXPECT_EQ(folder_.files(), 3U);
    std::filesystem::remove(folder_.path("c"));
    commit_together(open());
    for (const char* name : {"a", "b", "c"}) EXPECT_EQ(folder_.content(name), std::string("new ") + name);
    EXPECT_EQ(folder_.files(), 3U);
}

TEST_F(AtomicFiles, WhatASetNoLongerHasGoesWithItOrStaysWithTheOldOne) {
    for (const char* name : {"a", "b"}) folder_.file(name, std::string("old ") + name);
    const auto open = [&] {
        std::vector<std::unique_ptr<AtomicFile>> files;
        files.push_back(std::make_unique<AtomicFile>(folder_.path("a")));
        files.back()->write("new a");
        return files;
    };
    std::filesystem::create_directory(folder_.path("c"));  // which cannot be removed as a file
    const std::vector<std::string> gone = {folder_.path("b"), folder_.path("c")};
    EXPECT_THROW(commit_together(open(), gone), MachineError);
    for (const char* name : {"a", "b"}) EXPECT_EQ(folder_.content(name), std::string("old ") + name);
    EXPECT_EQ(folder_.files(), 3U);
    commit_together(open(), std::span(gone).first(1));
    EXPECT_EQ(folder_.content("a"), "new a");
    EXPECT_EQ(folder_.files(), 2U);  // a, and the folder
}

}  // namespace
}  // namespace accrue::data
