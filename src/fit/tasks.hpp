// All starts of all folds: trained, and judged by what they held out.
#pragma once

#include <cstdint>
#include <vector>

#include "fit/train.hpp"
#include "fit/work.hpp"

namespace accrue::fitting {

// In folds of at least so many rows a start is judged by its skill; in smaller ones that is mostly chance.
inline constexpr std::size_t kRowsToJudge = 500;

struct StartTask {
    std::size_t fold;
    std::size_t start;
    std::uint64_t stream;  // of random numbers: a start is the same whatever others there are
};

// Trains every task on its fold's division, in parallel where rows are few, and reports progress one call at a time.
// The sizes of a form count as its starts. What other processes or an earlier run have trained comes from there. Throws
// Interrupted when the watcher says so.
std::vector<Trained> train_all(const Rows& rows, const std::vector<Division>& divisions,
                               const std::vector<StartTask>& tasks, const Score& score, const TrainOptions& options,
                               std::uint64_t seed, const Work& work);

// The same for starts on many rows: start small, finish big. More of them than asked for train on a random sample of
// every fold; the best go on from where they got on samples three times as large, and in the end, for the last
// iterations, on all rows. Those without skill on a sample are not carried on. Few rows are one stage.
std::vector<Trained> train_in_stages(const Rows& rows, const std::vector<Division>& divisions,
                                     const std::vector<StartTask>& tasks, const Score& score,
                                     const TrainOptions& options, std::uint64_t seed, const Work& work);

// Goes on with starts of an earlier fit, which are close to where they will end.
std::vector<Trained> continue_all(std::vector<Trained> starts, const Rows& rows, const std::vector<Division>& divisions,
                                  const Score& score, const TrainOptions& options, const Work& work);

// Validation costs of the best constant sigma of every division.
std::vector<Trained> train_constants(const Rows& rows, const std::vector<Division>& divisions, const Score& score,
                                     const TrainOptions& options);

// Share of a constant sigma's cost that is saved, at most 1; for NLPD 1 less the ratio of the densities (their
// geometric means) that the observations have under the two.
double skill(const Score& score, double cost, double constant_cost);

// Skill of every start over a constant sigma on the same held-out rows, and whether it is kept.
void judge(std::vector<Trained>& trained, const std::vector<Trained>& constants, const Score& score,
           std::size_t smallest_fold);

}  // namespace accrue::fitting
