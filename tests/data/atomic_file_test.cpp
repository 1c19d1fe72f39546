#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "accrue/error.hpp"
#include "data/files.hpp"
#include "temporary_folder.hpp"

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

TEST_F(AtomicFiles, the_file_appears_with_commit) {
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

TEST_F(AtomicFiles, without_commit_the_old_file_stays) {
    folder_.file("out", "old");
    {
        AtomicFile file(folder_.path("out"));
        file.write("new");
    }
    EXPECT_EQ(folder_.content("out"), "old");
    EXPECT_EQ(folder_.files(), 1U);
}

TEST_F(AtomicFiles, a_replaced_file_keeps_its_permissions) {
    ::chmod(folder_.file("out", "old").c_str(), 0604);
    AtomicFile file(folder_.path("out"));
    file.write("new");
    file.commit();
    EXPECT_EQ(folder_.content("out"), "new");
    EXPECT_EQ(mode(folder_.path("out")), 0604U);
}

TEST_F(AtomicFiles, a_link_stays_and_its_file_is_replaced) {
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

TEST_F(AtomicFiles, several_files_can_be_open_at_once) {
    AtomicFile one(folder_.path("one"));
    AtomicFile two(folder_.path("two"));
    one.write("1");
    two.write("2");
    one.commit();
    two.commit();
    EXPECT_EQ(folder_.content("one"), "1");
    EXPECT_EQ(folder_.content("two"), "2");
}

TEST_F(AtomicFiles, a_name_as_long_as_allowed_works) {
    const std::string name(255, 'n');
    AtomicFile file(folder_.path(name));
    file.write("x");
    file.commit();
    EXPECT_EQ(folder_.content(name), "x");
}

TEST_F(AtomicFiles, bad_places_are_refused_at_once) {
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

TEST_F(AtomicFiles, devices_are_written_directly) {
    AtomicFile file("/dev/null");
    file.write("x");
    file.commit();
    EXPECT_FALSE(std::filesystem::is_regular_file("/dev/null"));
}

TEST_F(AtomicFiles, pipes_are_written_directly) {
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

TEST_F(AtomicFiles, a_full_disk_is_the_machines_fault) {
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

TEST_F(AtomicFiles, a_failed_write_leaves_the_old_file_and_nothing_else) {
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

TEST_F(AtomicFiles, a_signal_handler_can_remove_temporary_files) {
    folder_.file("out", "old");
    AtomicFile file(folder_.path("out"));
    file.write("new");
    EXPECT_EQ(folder_.files(), 2U);
    remove_temporary_files();
    EXPECT_EQ(folder_.files(), 1U);
    EXPECT_THROW(file.commit(), MachineError);
    EXPECT_EQ(folder_.content("out"), "old");
}

TEST_F(AtomicFiles, finished_files_are_safe_from_the_signal_handler) {
    for (int i = 0; i < 100; ++i) {  // more than there are slots
        AtomicFile file(folder_.path("out"));
        file.write("new");
        if (i % 2 == 0) file.commit();
    }
    remove_temporary_files();
    EXPECT_EQ(folder_.content("out"), "new");
    EXPECT_EQ(folder_.files(), 1U);
}

}  // namespace
}  // namespace accrue::data
