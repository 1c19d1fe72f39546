// How much memory there is, by files such as the kernel shows, and memory that grows.
#include "core/memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <string>
#include <vector>

#include "core/buffer.hpp"
#include "data/temporary_folder.hpp"

namespace accrue::core {
namespace {

class AvailableMemory : public testing::Test {
protected:
    void put(const std::string& path, const std::string& text) {
        const std::filesystem::path file = folder_.path(path);
        std::filesystem::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    std::size_t available() const { return available_memory(folder_.folder()); }

    test::TemporaryFolder folder_;
};

TEST_F(AvailableMemory, IsWhatTheMachineHasWhereNothingElseLimits) {
    put("proc/meminfo", "MemTotal:       4000 kB\nMemAvailable:   3000 kB\n");
    EXPECT_EQ(available(), 3000U * 1024);
}

TEST_F(AvailableMemory, IsTheLeastThatControlGroupsOfVersion2Leave) {
    put("proc/meminfo", "MemAvailable: 3000000 kB\n");
    put("proc/self/cgroup", "0::/jobs/mine\n");
    put("sys/fs/cgroup/jobs/mine/memory.max", "max\n");
    put("sys/fs/cgroup/jobs/memory.max", "500000\n");
    // Pages of files are given back when memory is short, so only the others count as used.
    put("sys/fs/cgroup/jobs/memory.stat", "anon 100000\nfile 390000\n");
    EXPECT_EQ(available(), 400000U);
    put("sys/fs/cgroup/jobs/mine/memory.high", "300000\n");
    EXPECT_EQ(available(), 300000U);
    put("sys/fs/cgroup/jobs/mine/memory.stat", "anon 400000\n");
    EXPECT_EQ(available(), 0U);
}

TEST_F(AvailableMemory, IsTheLeastThatControlGroupsOfVersion1Leave) {
    put("proc/meminfo", "MemAvailable: 3000000 kB\n");
    put("proc/self/cgroup", "7:cpu,memory:/a/b\n5:devices:/c\n0::/\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "700000\n");
    put("sys/fs/cgroup/memory/a/memory.stat", "rss 1\ntotal_rss 200000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    EXPECT_EQ(available(), 500000U);
}

TEST_F(AvailableMemory, SeesTheTopOfTheGroupsWhereAContainerHidesItsPath) {
    put("proc/self/cgroup", "0::/docker/0123456789\n");
    put("sys/fs/cgroup/memory.max", "600000\n");
    EXPECT_EQ(available(), 600000U);
}

TEST_F(AvailableMemory, OfThisProcessIsMoreThanNothing) {
    EXPECT_GT(available_memory(), 1000000U);
}

TEST(Growing, KeepsItsNumbersWhileItGrowsAndShrinks) {
    Growing<double> values;
    std::vector<double> expected;
    for (std::size_t step = 1; step < 300; ++step) {
        std::vector<double> more(step * 7);
        std::iota(more.begin(), more.end(), static_cast<double>(expected.size()));
        values.append(more);
        expected.insert(expected.end(), more.begin(), more.end());
    }
    const auto same = [&] { return std::equal(expected.begin(), expected.end(), values.data()); };
    EXPECT_EQ(values.size(), expected.size());
    EXPECT_TRUE(same());
    values.cut(1000);
    expected.resize(1000);
    values.shrink();
    EXPECT_EQ(values.span().size(), 1000U);
    EXPECT_TRUE(same());
    Growing<double> other = std::move(values);
    EXPECT_EQ(values.size(), 0U);  // NOLINT: what a moved one holds is said in its header
    EXPECT_EQ(other[999], 999);
    other = {};
    EXPECT_EQ(other.size(), 0U);
}

}  // namespace
}  // namespace accrue::core
