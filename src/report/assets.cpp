// The assembler puts the files into the library as they are: compilers take long over megabytes of text.
#include "report/assets.hpp"

#if defined(ACCRUE_REPORT_PAGE) && defined(ACCRUE_REPORT_FIGURES)

// clang-format off
#define ACCRUE_EMBED(name, file)                         \
    asm(".pushsection .rodata\n"                         \
        ".global " #name "_begin\n.hidden " #name "_begin\n" \
        ".global " #name "_end\n.hidden " #name "_end\n"     \
        #name "_begin:\n.incbin \"" file "\"\n"          \
        #name "_end:\n.byte 0\n.popsection\n");          \
    extern "C" const char name##_begin[];                \
    extern "C" const char name##_end[]
// clang-format on

ACCRUE_EMBED(accrue_report_page, ACCRUE_REPORT_PAGE);
ACCRUE_EMBED(accrue_report_figures, ACCRUE_REPORT_FIGURES);

namespace accrue::report {

std::string_view page_template() {
    return {accrue_report_page_begin, accrue_report_page_end};
}
std::string_view figures_program() {
    return {accrue_report_figures_begin, accrue_report_figures_end};
}

}  // namespace accrue::report

#else

namespace accrue::report {

std::string_view page_template() {
    return {};
}
std::string_view figures_program() {
    return {};
}

}  // namespace accrue::report

#endif
