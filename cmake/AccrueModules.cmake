# A module is one folder of src/. Modules are added in the order of the data flow (src/CMakeLists.txt),
# and a module may use only those that exist already: USES naming a later one stops the configuration.
#
#   accrue_module(scores HEADERS scores.hpp ... SOURCES crps.cpp ... ONCE json.cpp ... USES core LIBRARIES hwy::hwy_contrib)
#
# HEADERS are its public ones, of include/accrue (scripts/check-modules reads them). SOURCES, where rows are worked through, are compiled once per instruction-set level; ONCE, which gains nothing from newer
# instructions, for the baseline alone. The levels become copies of one shared library, from which the loader picks the
# best that the machine runs (docs/decisions/0002).
set(ACCRUE_LEVELS baseline)
if(ACCRUE_VARIANTS AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND ACCRUE_LEVELS x86-64-v3 x86-64-v4)
endif()
set(ACCRUE_MODULES "")

function(accrue_module name)
  cmake_parse_arguments(MODULE "" "" "HEADERS;SOURCES;ONCE;USES;LIBRARIES;SYSTEM_INCLUDES" ${ARGN})
  foreach(used IN LISTS MODULE_USES)
    if(NOT used IN_LIST ACCRUE_MODULES)
      message(FATAL_ERROR "module '${name}' uses '${used}', which does not come before it in src/CMakeLists.txt")
    endif()
  endforeach()
  foreach(level IN LISTS ACCRUE_LEVELS ITEMS once)
    set(target ${name}_objects_${level})
    if(level STREQUAL "once")
      set(sources ${MODULE_ONCE})
    else()
      set(sources ${MODULE_SOURCES})
    endif()
    if(NOT sources)
      continue()
    endif()
    add_library(${target} OBJECT ${sources})
    target_link_libraries(${target} PRIVATE accrue_flags PUBLIC fmt::fmt nlohmann_json::nlohmann_json ${MODULE_LIBRARIES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include
                                                 ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${MODULE_SYSTEM_INCLUDES})
    # Fuzzers learn from comparisons where text is read; where numbers are worked through they learn nothing, at half the speed.
    if(ACCRUE_FUZZ AND NOT name MATCHES "^(data|forecast)$")
      target_compile_options(${target} PRIVATE -fno-sanitize-coverage=trace-cmp)
    endif()
    if(level MATCHES "^x86-64-v")
      target_compile_options(${target} PRIVATE -march=${level} -ffp-contract=fast)
      if(level STREQUAL "x86-64-v4")
        target_compile_options(${target} PRIVATE -mprefer-vector-width=512)
      endif()
    endif()
  endforeach()
  list(APPEND ACCRUE_MODULES ${name})
  set(ACCRUE_MODULES ${ACCRUE_MODULES} PARENT_SCOPE)
  # Modules are added from their own folder: hand the list to src/ as well.
  set_property(GLOBAL PROPERTY ACCRUE_MODULES ${ACCRUE_MODULES})
endfunction()

# One shared library per level, from which only what public headers declare leaves (src/exports.map); the baseline is the
# target that programs link (accrue::accrue). Tests and benchmarks reach further: accrue_inside is the same objects with
# every name.
function(accrue_library)
  accrue_shared_libraries(accrue)
  accrue_shared_libraries(accrue_inside EVERY_NAME)
endfunction()

function(accrue_target_of_level name level result)
  if(level STREQUAL "baseline")
    set(${result} ${name} PARENT_SCOPE)
  else()
    set(${result} ${name}_${level} PARENT_SCOPE)
  endif()
endfunction()

# accrue_shared_libraries(NAME [EVERY_NAME | EXPORTS map] [SOURCES file...] [OBJECTS module/file...]): of all modules, or of
# the objects named by regular expressions, and further files. What leaves it is every name, or those of the map.
function(accrue_shared_libraries name)
  cmake_parse_arguments(LIBRARY "EVERY_NAME" "EXPORTS" "SOURCES;OBJECTS" ${ARGN})
  if(NOT LIBRARY_EXPORTS)
    set(LIBRARY_EXPORTS ${PROJECT_SOURCE_DIR}/src/exports.map)
  endif()
  foreach(level IN LISTS ACCRUE_LEVELS)
    accrue_target_of_level(${name} ${level} target)
    add_library(${target} SHARED ${LIBRARY_SOURCES})
    foreach(module IN LISTS ACCRUE_MODULES)
      foreach(objects ${module}_objects_${level} ${module}_objects_once)
        if(NOT TARGET ${objects})
          continue()
        endif()
        if(NOT LIBRARY_OBJECTS)
          target_link_libraries(${target} PRIVATE ${objects})  # objects bring their link libraries along
          continue()
        endif()
        foreach(part IN LISTS LIBRARY_OBJECTS)
          if(part MATCHES "^${module}/(.*)$")
            target_sources(${target} PRIVATE $<FILTER:$<TARGET_OBJECTS:${objects}>,INCLUDE,/${CMAKE_MATCH_1}[.]cpp[.]o$>)
          endif()
        endforeach()
      endforeach()
    endforeach()
    target_link_libraries(${target} PRIVATE accrue_flags fmt::fmt)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
    # Calls inside the library stay inside it: a program's own copy of an inline function, built for
    # another instruction set, must not replace the library's.
    target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
    if(NOT LIBRARY_EVERY_NAME)
      target_link_options(${target} PRIVATE -Wl,--version-script=${LIBRARY_EXPORTS})
      set_target_properties(${target} PROPERTIES LINK_DEPENDS ${LIBRARY_EXPORTS})
    endif()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} EXCLUDE_FROM_ALL ${LIBRARY_EVERY_NAME})
    if(NOT level STREQUAL "baseline")
      set_target_properties(${target} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/glibc-hwcaps/${level})
      add_dependencies(${name} ${target})
    endif()
  endforeach()
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(${name} PUBLIC cxx_std_20)
  # The only library that the public headers name; everything else stays inside.
  target_link_libraries(${name} PUBLIC nlohmann_json::nlohmann_json)
  string(REPLACE "accrue_" "" export_name ${name})
  set_target_properties(${name} PROPERTIES EXPORT_NAME ${export_name})
  add_library(accrue::${export_name} ALIAS ${name})
endfunction()
