# cmake --install BUILD --prefix P gives
#
#   P/include/accrue/*.hpp                      the public interface
#   P/lib/libaccrue.so*                         the library for any machine of this architecture
#   P/lib/libaccrue_forecast.so*                models and their forecasts alone: no optimiser, threads or NetCDF
#   P/lib/glibc-hwcaps/x86-64-v3/, .../x86-64-v4/  the same libraries for newer ones; the loader picks (docs/decisions/0002)
#   P/lib/cmake/accrue/                         find_package(accrue), targets accrue::accrue, accrue::forecast
#   P/lib/libaccrue_mpi.so                      what the command loads when mpirun has started it; where MPI was found
#   P/bin/accrue                                the command
#   P/share/doc/accrue/                         the licences: accrue's own and those of what it carries
#   P/share/man/man1/                           manual pages
#   P/share/bash-completion/, zsh/, fish/       completion for shells
#
# The tree can be moved as a whole: the command finds the library, and the package its files, from where they lie.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/accrue)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/accrue ${PROJECT_BINARY_DIR}/include/accrue
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
install(TARGETS accrue accrue_forecast EXPORT accrueTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(level IN LISTS ACCRUE_LEVELS)
  if(NOT level STREQUAL "baseline")
    # Programs are linked with the baseline; only the loader ever looks here, and by the soname.
    install(TARGETS accrue_${level} accrue_forecast_${level}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/glibc-hwcaps/${level} NAMELINK_SKIP)
  endif()
endforeach()
if(TARGET accrue_mpi)
  install(TARGETS accrue_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
include(AccrueThirdParty)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${ACCRUE_THIRD_PARTY} DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS accrue_app RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/ DESTINATION ${CMAKE_INSTALL_DATADIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/accrueConfig.cmake.in
  ${PROJECT_BINARY_DIR}/accrueConfig.cmake INSTALL_DESTINATION ${package_dir})
# Until 1.0 the interface may change with every minor version.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/accrueConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/accrueConfig.cmake ${PROJECT_BINARY_DIR}/accrueConfigVersion.cmake
  DESTINATION ${package_dir})
install(EXPORT accrueTargets NAMESPACE accrue:: DESTINATION ${package_dir})
