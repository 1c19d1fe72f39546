// Ceres's library brings its least-squares solvers along, and they name functions of CHOLMOD, CXSparse and LAPACK. A
// minimiser of plain functions calls none of them. Defined here, for this library alone, they keep those libraries and
// the BLAS behind them out of every process that uses accrue: some milliseconds of each start, and, where a limit on
// memory is tight, threads of OpenBLAS that wait for memory forever.
//
// A name that is not listed, of another version of Ceres, is taken from its own library, as it would be without this.
#include <cstdlib>

#define ACCRUE_UNUSED(name)                                          \
    extern "C" [[gnu::visibility("hidden"), noreturn]] void name() { \
        std::abort();                                                \
    }

ACCRUE_UNUSED(cholmod_amd)
ACCRUE_UNUSED(cholmod_analyze)
ACCRUE_UNUSED(cholmod_analyze_p)
ACCRUE_UNUSED(cholmod_camd)
ACCRUE_UNUSED(cholmod_factorize)
ACCRUE_UNUSED(cholmod_finish)
ACCRUE_UNUSED(cholmod_free_dense)
ACCRUE_UNUSED(cholmod_free_factor)
ACCRUE_UNUSED(cholmod_free_sparse)
ACCRUE_UNUSED(cholmod_print_common)
ACCRUE_UNUSED(cholmod_solve)
ACCRUE_UNUSED(cholmod_start)
ACCRUE_UNUSED(cholmod_triplet_to_sparse)
ACCRUE_UNUSED(cholmod_zeros)
ACCRUE_UNUSED(cs_di_amd)
ACCRUE_UNUSED(cs_di_calloc)
ACCRUE_UNUSED(cs_di_chol)
ACCRUE_UNUSED(cs_di_cholsol)
ACCRUE_UNUSED(cs_di_compress)
ACCRUE_UNUSED(cs_di_counts)
ACCRUE_UNUSED(cs_di_cumsum)
ACCRUE_UNUSED(cs_di_etree)
ACCRUE_UNUSED(cs_di_free)
ACCRUE_UNUSED(cs_di_ipvec)
ACCRUE_UNUSED(cs_di_lsolve)
ACCRUE_UNUSED(cs_di_ltsolve)
ACCRUE_UNUSED(cs_di_malloc)
ACCRUE_UNUSED(cs_di_multiply)
ACCRUE_UNUSED(cs_di_nfree)
ACCRUE_UNUSED(cs_di_pinv)
ACCRUE_UNUSED(cs_di_post)
ACCRUE_UNUSED(cs_di_pvec)
ACCRUE_UNUSED(cs_di_schol)
ACCRUE_UNUSED(cs_di_sfree)
ACCRUE_UNUSED(cs_di_spfree)
ACCRUE_UNUSED(cs_di_symperm)
ACCRUE_UNUSED(cs_di_transpose)
ACCRUE_UNUSED(dgeqrf_)
ACCRUE_UNUSED(dormqr_)
ACCRUE_UNUSED(dpotrf_)
ACCRUE_UNUSED(dpotrs_)
ACCRUE_UNUSED(dtrtrs_)
