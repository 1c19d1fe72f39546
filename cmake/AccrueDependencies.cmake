# Everything here comes from Debian packages by name; scripts/bootstrap installs them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)
find_package(TBB REQUIRED)
find_package(hwy REQUIRED)
find_package(FastFloat REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(Ceres REQUIRED)

# NetCDF is loaded by its soname when it is needed (docs/decisions/0004): the header is used, the target is not linked.
find_package(netCDF REQUIRED)
get_target_property(ACCRUE_NETCDF_LIBRARY netCDF::netcdf LOCATION)
get_filename_component(ACCRUE_NETCDF_SONAME ${ACCRUE_NETCDF_LIBRARY} NAME)
get_target_property(netcdf_configurations netCDF::netcdf IMPORTED_CONFIGURATIONS)
foreach(configuration IN LISTS netcdf_configurations)
  get_target_property(netcdf_soname netCDF::netcdf IMPORTED_SONAME_${configuration})
  if(netcdf_soname)
    get_filename_component(ACCRUE_NETCDF_SONAME ${netcdf_soname} NAME)  # some systems put "@rpath/" before it
  endif()
endforeach()
