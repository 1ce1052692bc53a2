# The command line.
file(GLOB_RECURSE command_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
  src/cli/*.cpp)
add_executable(glassformer ${command_sources})
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Threads REQUIRED)
glassformer_precompile(glassformer <nlohmann/json.hpp> <CLI/CLI.hpp>)
glassformer_unite(glassformer)
if(GLASSFORMER_SANITIZE)
  target_compile_options(glassformer PRIVATE -O0)  # compiles in a third of the time
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_options(glassformer PRIVATE -O1)  # it reads and prints; the core computes
endif()
target_link_libraries(glassformer PRIVATE glassformer_core OpenSSL::Crypto Threads::Threads)
# `mpirun glassformer train` uses several machines.
find_package(MPI COMPONENTS CXX)
if(MPI_CXX_FOUND)
  target_link_libraries(glassformer PRIVATE MPI::MPI_CXX)
  target_compile_definitions(glassformer PRIVATE GLASSFORMER_MPI)
endif()
set_source_files_properties(src/cli/main.cpp PROPERTIES
  COMPILE_DEFINITIONS "GLASSFORMER_VERSION=\"${PROJECT_VERSION}\"")
