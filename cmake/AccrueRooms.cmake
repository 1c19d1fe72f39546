# A room is one folder of src/. Rooms are added in the order of the data flow (src/CMakeLists.txt),
# and a room may use only rooms that exist already: USES naming a later one stops the configuration.
#
#   accrue_room(scores SOURCES crps.cpp ... ONCE json.cpp ... USES core LIBRARIES hwy::hwy_contrib)
#
# SOURCES, where rows are worked through, are compiled once per instruction-set level; ONCE, which gains nothing from newer
# instructions, for the baseline alone. The levels become copies of one shared library, from which the loader picks the
# best that the machine runs (docs/decisions/0002).
set(ACCRUE_LEVELS baseline)
if(ACCRUE_VARIANTS AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  list(APPEND ACCRUE_LEVELS x86-64-v3 x86-64-v4)
endif()
set(ACCRUE_ROOMS "")

function(accrue_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;ONCE;USES;LIBRARIES;SYSTEM_INCLUDES" ${ARGN})
  foreach(used IN LISTS ROOM_USES)
    if(NOT used IN_LIST ACCRUE_ROOMS)
      message(FATAL_ERROR "room '${name}' uses '${used}', which does not come before it in src/CMakeLists.txt")
    endif()
  endforeach()
  foreach(level IN LISTS ACCRUE_LEVELS ITEMS once)
    set(target accrue_${name}_${level})
    if(level STREQUAL "once")
      set(sources ${ROOM_ONCE})
    else()
      set(sources ${ROOM_SOURCES})
    endif()
    if(NOT sources)
      continue()
    endif()
    add_library(${target} OBJECT ${sources})
    target_link_libraries(${target} PRIVATE accrue_flags PUBLIC fmt::fmt nlohmann_json::nlohmann_json ${ROOM_LIBRARIES})
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_BINARY_DIR}/include
                                                 ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(${target} SYSTEM PRIVATE ${ROOM_SYSTEM_INCLUDES})
    if(level MATCHES "^x86-64-v")
      target_compile_options(${target} PRIVATE -march=${level} -ffp-contract=fast)
      if(level STREQUAL "x86-64-v4")
        target_compile_options(${target} PRIVATE -mprefer-vector-width=512)
      endif()
    endif()
  endforeach()
  list(APPEND ACCRUE_ROOMS ${name})
  set(ACCRUE_ROOMS ${ACCRUE_ROOMS} PARENT_SCOPE)
  # Rooms are added from their own folder: hand the list to src/ as well.
  set_property(GLOBAL PROPERTY ACCRUE_ROOMS ${ACCRUE_ROOMS})
endfunction()

# One shared library per level; the baseline is the target that everything links (accrue::accrue).
function(accrue_library)
  foreach(level IN LISTS ACCRUE_LEVELS)
    set(target accrue)
    if(NOT level STREQUAL "baseline")
      set(target accrue_${level})
    endif()
    add_library(${target} SHARED)
    foreach(room IN LISTS ACCRUE_ROOMS)
      foreach(objects accrue_${room}_${level} accrue_${room}_once)
        if(TARGET ${objects})
          target_link_libraries(${target} PRIVATE ${objects})  # objects bring their link libraries along
        endif()
      endforeach()
    endforeach()
    target_link_libraries(${target} PRIVATE accrue_flags)
    # Calls inside the library stay inside it: a program's own copy of an inline function, built for
    # another instruction set, must not replace the library's.
    target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME accrue VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
    if(NOT level STREQUAL "baseline")
      set_target_properties(${target} PROPERTIES
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/glibc-hwcaps/${level})
      add_dependencies(accrue ${target})
    endif()
  endforeach()
  target_include_directories(accrue PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(accrue PUBLIC cxx_std_20)
  # The only library that the public headers name; everything else stays inside.
  target_link_libraries(accrue PUBLIC nlohmann_json::nlohmann_json)
  add_library(accrue::accrue ALIAS accrue)
endfunction()
