# THIRD_PARTY.txt: what the library, the command and the wheel carry inside them that is the work of others, with the licences
# as Debian's packages and the packages themselves hold them. Installed, and put into the wheel; the report page has its own.
#
# Headers, and libraries that are linked statically; shared libraries stay with the system and are not carried.
set(carried libceres-dev libeigen3-dev libboost1*-dev libfast-float-dev nlohmann-json3-dev libcli11-dev libhwy-dev libfmt-dev
    libtbb-dev libgoogle-glog-dev)
set(ACCRUE_THIRD_PARTY ${PROJECT_BINARY_DIR}/THIRD_PARTY.txt)

set(text "accrue is under the MIT licence (LICENSE). Parts of what is built from it are the work of others.\n")
foreach(package IN LISTS carried)
  file(GLOB copyright /usr/share/doc/${package}/copyright)
  string(REPLACE "1*" "" name ${package})
  string(APPEND text "\n======== ${name}\n\n")
  if(NOT copyright)
    message(FATAL_ERROR "/usr/share/doc/${package}/copyright is missing: what is built must carry this licence")
  endif()
  list(GET copyright 0 copyright)
  file(READ ${copyright} licence)
  if(package MATCHES boost)
    # Two megabytes of names; what the headers are under is this one paragraph.
    string(FIND "${licence}" " Boost Software License - Version 1.0" begin)
    if(begin GREATER 0)
      string(SUBSTRING "${licence}" ${begin} 2000 licence)
      string(FIND "${licence}" "\n\n" end)
      string(SUBSTRING "${licence}" 0 ${end} licence)
      string(APPEND licence "\n")
    endif()
  endif()
  string(APPEND text "${licence}")
endforeach()
if(nanobind_DIR)
  get_filename_component(packages ${nanobind_DIR}/../.. ABSOLUTE)
  file(GLOB licences ${packages}/nanobind-*.dist-info/licenses/LICENSE ${packages}/nanobind-*.dist-info/LICENSE
                     ${packages}/nanobind/ext/robin_map/LICENSE)
  foreach(file IN LISTS licences)
    file(READ ${file} licence)
    string(APPEND text "\n======== nanobind\n\n${licence}")
  endforeach()
endif()
string(APPEND text "\n======== The report page\n\nApache ECharts, zrender and tslib: their licences and notices are at the end of every page.\n")
file(WRITE ${ACCRUE_THIRD_PARTY} "${text}")
