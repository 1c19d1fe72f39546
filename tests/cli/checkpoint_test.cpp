// accrue fit --checkpoint: a fit that is killed goes on to the model of one that was not.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/model_cli_test.hpp"

namespace accrue::test {
namespace {

class Checkpoint : public ModelCliTest {
protected:
    std::string file_ = archive("a.csv", 4000, 7);
    std::string checkpoint_ = folder_.path("starts");

    std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
        return with({"fit", file_, "--prediction", "mu", "--observation", "y", "--inputs", "x", "--family", "normal",
                     "--bias", "none", "--form", "network", "--threads", "1", "--quiet", "-o", folder_.path("m.json")},
                    more);
    }
    std::string undisturbed() const {
        output(arguments());
        const std::string model = folder_.content("m.json");
        std::filesystem::remove(folder_.path("m.json"));
        return model;
    }
    std::size_t starts() const {
        std::size_t count = 0;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(checkpoint_, error))
            count += entry.path().extension() == ".start" ? 1 : 0;
        return count;
    }
};

TEST_F(Checkpoint, KilledFitsGoOnToTheSameModel) {
    const std::string model = undisturbed();
    const char* asked = std::getenv("ACCRUE_KILLS");
    const int kills = asked == nullptr ? 5 : std::atoi(asked);
    core::Random random(11);
    std::size_t most = 0;
    int ended = 0;
    for (int k = 0; k < kills;) {
        // The time that a fit takes is found on the way: what ends unharmed begins anew.
        support::Process process(command(arguments({"--checkpoint", checkpoint_, "--resume"})));
        std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.below(400)));
        process.signal(SIGKILL);
        const Ended run = process.wait();
        if (run.signal == SIGKILL) {
            ++k;
            // The model is there when its starts are removed: a kill may fall in between.
            if (std::filesystem::exists(folder_.path("m.json"))) {
                EXPECT_EQ(folder_.content("m.json"), model) << "after " << k << " kills";
                std::filesystem::remove(folder_.path("m.json"));
                most = 0;
                continue;
            }
            // At most the start at work is lost.
            EXPECT_GE(starts() + 1, most);
            most = starts();
            continue;
        }
        ++ended;
        ASSERT_EQ(run.status, 0) << run.err;
        ASSERT_EQ(folder_.content("m.json"), model) << "after " << k << " kills";
        ASSERT_FALSE(std::filesystem::exists(checkpoint_));
        std::filesystem::remove(folder_.path("m.json"));
        most = 0;
    }
    output(arguments({"--checkpoint", checkpoint_, "--resume"}));
    EXPECT_EQ(folder_.content("m.json"), model);
    EXPECT_FALSE(std::filesystem::exists(checkpoint_)) << "nothing is left";
    EXPECT_EQ(folder_.files(), 2U) << "the archive and the model";
    RecordProperty("kills", kills);
    RecordProperty("ended", ended);
}

TEST_F(Checkpoint, SaysWhatIsWrong) {
    EXPECT_NE(refusal(accrue(arguments({"--resume"}))).find("--resume requires --checkpoint"), std::string::npos);
    std::filesystem::create_directory(checkpoint_);
    output(arguments({"--checkpoint", checkpoint_}));
    EXPECT_FALSE(std::filesystem::exists(checkpoint_));
    // A fit that ends before its model is written: the place of its report cannot be written to.
    support::Process process(command(arguments({"--checkpoint", checkpoint_})));
    while (starts() < 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait().status, 128 + SIGTERM) << "the starts so far are kept";
    ASSERT_GE(starts(), 1U);
    EXPECT_EQ(refusal(accrue(arguments({"--checkpoint", checkpoint_}))),
              "starts holds a fit that was not finished: add --resume to continue it, or remove the folder");
    EXPECT_EQ(refusal(accrue(arguments({"--checkpoint", checkpoint_, "--resume", "--seed", "2"}))),
              "starts holds another fit: its rows, its options, or the version or instruction level of accrue that "
              "made it are not those of this one");
    EXPECT_NE(refusal(accrue(arguments({"--checkpoint", file_}))).find("cannot be made: "), std::string::npos);
}

}  // namespace
}  // namespace accrue::test
