# Flags of every target. Warnings are errors. A multiply and an add are fused only where the source
# says so, to keep builds as similar as possible.
add_library(glassformer_flags INTERFACE)
target_compile_options(glassformer_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion -Werror -ffp-contract=off)
if(NOT GLASSFORMER_UNITE)  # else a parameter may have the name of another file's helper
  target_compile_options(glassformer_flags INTERFACE -Wshadow)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(glassformer_flags INTERFACE -Wshadow=local)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports overlaps in std::string that do not exist (GCC bug 105651).
  target_compile_options(glassformer_flags INTERFACE -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND NOT EMSCRIPTEN)
  # GCC 12's std::stable_sort uses functions that C++17 deprecates.
  target_compile_options(glassformer_flags INTERFACE -Wno-deprecated-declarations)
endif()
if(GLASSFORMER_UNITE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 inlines more in a folder that is compiled as one, and then warns of copies of impossible
  # sizes.
  foreach(warning alloc-size-larger-than= array-bounds free-nonheap-object maybe-uninitialized nonnull
      stringop-overflow stringop-overread)
    target_compile_options(glassformer_flags INTERFACE -Wno-error=${warning})
  endforeach()
  # A file that is compiled with others looks like a header.
  target_compile_options(glassformer_flags INTERFACE -Wno-subobject-linkage)
endif()
target_include_directories(glassformer_flags INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_include_directories(glassformer_flags SYSTEM INTERFACE "${GLASSFORMER_INCLUDE}")

if(GLASSFORMER_SANITIZE)
  set(sanitize -fsanitize=${GLASSFORMER_SANITIZERS} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(glassformer_flags INTERFACE ${sanitize})
  target_link_options(glassformer_flags INTERFACE ${sanitize})
  if(GLASSFORMER_SANITIZERS STREQUAL "thread")
    # The tests replace operator new, which Clang's ThreadSanitizer defines, too.
    target_link_options(glassformer_flags INTERFACE -Wl,-z,muldefs)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # With sanitizers, GCC reports uninitialized values that do not exist (see its manual). The
    # native build keeps the warning.
    target_compile_options(glassformer_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

if(EMSCRIPTEN)
  # An instance never exits.
  target_compile_options(glassformer_flags INTERFACE -fwasm-exceptions -fno-rtti -msimd128
    -mbulk-memory -fno-c++-static-destructors -fvisibility=hidden)
  # The oldest browsers with SIMD and exceptions, as listed in web/docs/browsers.md.
  target_link_options(glassformer_flags INTERFACE -fwasm-exceptions -mbulk-memory
    -sMIN_CHROME_VERSION=95 -sMIN_FIREFOX_VERSION=100 -sMIN_SAFARI_VERSION=160400)
  if(GLASSFORMER_QUICK)
    # One compilation for binaries with and without threads. Objects are not optimized together.
    target_compile_options(glassformer_flags INTERFACE -sWASM_WORKERS=1)
  elseif(GLASSFORMER_SHARED_MEMORY)
    # Debian has the libraries for threads, but not for -flto; objects are still optimized together.
    target_compile_options(glassformer_flags INTERFACE -sWASM_WORKERS=1 -flto
      -fwhole-program-vtables -fvirtual-function-elimination)
  else()
    # The whole program is optimized at link time, and unused virtual functions are removed.
    target_compile_options(glassformer_flags INTERFACE -flto -fno-threadsafe-statics
      -fwhole-program-vtables -fvirtual-function-elimination)
    target_link_options(glassformer_flags INTERFACE -flto)
  endif()
else()
  # The add-on for Node is a shared library that contains the core.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(CMAKE_CXX_VISIBILITY_PRESET hidden)
  set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
endif()

# Parsing these headers takes most of a file's compile time. tests/repository/includes.test.mjs checks
# that each file includes what it uses.
function(glassformer_precompile target)  # ARGN: headers in addition to the core's
  if(GLASSFORMER_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <array> <charconv> <cmath> <cstddef> <cstdint> <cstring> <functional> <limits> <map>
      <memory> <numeric> <optional> <ranges> <set> <span> <string> <string_view> <utility> <variant>
      <vector> src/tensor/tensor.hpp ${ARGN})
  endif()
endfunction()

# Compiles the files of a folder as one, so that headers are parsed and shared code, such as
# templates of vectors and strings, is compiled once per folder. Helpers of a folder's files have
# different names. ARGN: regular expressions of files that stay alone, so that a program that does
# not need them links without their libraries.
function(glassformer_unite target)
  if(NOT GLASSFORMER_UNITE)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "[.]cpp$")
  foreach(source ${sources})
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    foreach(alone ${ARGN})
      if(source MATCHES "${alone}")
        string(MAKE_C_IDENTIFIER "${source}" group)
      endif()
    endforeach()
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD TRUE UNITY_BUILD_MODE GROUP)
endfunction()
