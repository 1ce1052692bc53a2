# The add-on for Node, and the module for Python.
# A library that a program loads. It links only the libraries that it needs, and exports its entry
# points only, so that the program's C++ library does not replace parts of its own.
function(glassformer_loaded target exports)
  target_link_libraries(${target} PRIVATE glassformer_core)
  if(APPLE)
    target_link_options(${target} PRIVATE -undefined dynamic_lookup)
    return()
  endif()
  target_link_options(${target} PRIVATE -Wl,--as-needed "-Wl,--version-script=${exports}")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}")
  if(NOT GLASSFORMER_SANITIZE)
    # Runs on systems with another version of the C++ library.
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -s)
  endif()
endfunction()

# glassformer.node: the functions of the WebAssembly modules, with every kind of model, over Node-API.
# tools/native_addon.mjs makes the package @glassformer/native of it. It decodes no picture
# files, so that the libraries for this are not needed.
set(GLASSFORMER_NODE_API "${CMAKE_SOURCE_DIR}/node_modules/node-api-headers/include" CACHE PATH
  "the folder of node_api.h")
add_library(glassformer_addon MODULE EXCLUDE_FROM_ALL
  wasm/binding.cpp wasm/native/addon.cpp)
set_target_properties(glassformer_addon PROPERTIES
  PREFIX "" OUTPUT_NAME glassformer SUFFIX .node)
target_include_directories(glassformer_addon SYSTEM PRIVATE "${GLASSFORMER_NODE_API}")
target_compile_definitions(glassformer_addon PRIVATE NAPI_VERSION=8)
glassformer_loaded(glassformer_addon "${CMAKE_SOURCE_DIR}/wasm/native/exports.map")

# _core.so: the module of the Python package, which python/setup.py builds. It contains nanobind, and
# shares no types with other modules that do.
set(GLASSFORMER_PYTHON_INCLUDE "" CACHE PATH "the folder of Python.h")
set(GLASSFORMER_NANOBIND "${CMAKE_SOURCE_DIR}/.toolchain/nanobind" CACHE PATH "nanobind's folder")
file(GLOB nanobind_sources "${GLASSFORMER_NANOBIND}/src/*.cpp")
list(FILTER nanobind_sources EXCLUDE REGEX nb_combined)  # includes the others; not in version 2.5
if(nanobind_sources)
  add_library(glassformer_nanobind OBJECT EXCLUDE_FROM_ALL ${nanobind_sources})
  target_include_directories(glassformer_nanobind SYSTEM PUBLIC ${GLASSFORMER_PYTHON_INCLUDE}
    "${GLASSFORMER_NANOBIND}/include" "${GLASSFORMER_NANOBIND}/ext/robin_map/include"
    "${GLASSFORMER_INCLUDE}")
  target_compile_definitions(glassformer_nanobind PUBLIC NB_DOMAIN=glassformer)
  target_compile_options(glassformer_nanobind PRIVATE -Os -fno-strict-aliasing ${sanitize})
  add_library(glassformer_python MODULE EXCLUDE_FROM_ALL python/binding.cpp)
  set_target_properties(glassformer_python PROPERTIES PREFIX "" OUTPUT_NAME _core SUFFIX .so)
  target_link_libraries(glassformer_python PRIVATE glassformer_nanobind)
  glassformer_loaded(glassformer_python "${CMAKE_SOURCE_DIR}/python/exports.map")
endif()
