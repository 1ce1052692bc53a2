# Emscripten's own CMake toolchain file, from the Emscripten that the set-up found or unpacked.
set(emscripten_ "${CMAKE_CURRENT_LIST_DIR}/../.toolchain/emscripten")
if(NOT EXISTS "${emscripten_}/emcc.py")
  message(FATAL_ERROR "Emscripten is not set up: run  node tools/setup.mjs build")
endif()
get_filename_component(emscripten_ "${emscripten_}" REALPATH)
include("${emscripten_}/cmake/Modules/Platform/Emscripten.cmake")
