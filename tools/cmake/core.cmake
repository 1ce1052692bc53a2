# The core. Each folder is a layer; tests/repository/layers.test.mjs lists the permitted includes.
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" src/*.cpp)
list(FILTER core_sources EXCLUDE REGEX "^src/(cli/|linked/|kernels/(isa|dispatch)[.]cpp)")
if(EMSCRIPTEN)  # no file system, no picture files, and no classes of the C++ interface
  list(FILTER core_sources EXCLUDE REGEX
    "^src/glassformer/|^src/families/folder/folder_on_disk|^src/image/decode/|^src/tasks/(chat/|load[.])")
else()
  list(APPEND core_sources src/linked/all.cpp src/linked/training_on.cpp)
endif()

add_library(glassformer_core STATIC)
# What includes minja, and what decodes pictures.
set(alone "^src/tasks/chat/" "^src/image/decode/"
  "^src/glassformer/(image_classifier|glassformer|zero_shot_image_classifier)[.]")
if(GLASSFORMER_SANITIZE)
  # Compiles in half the time without optimization; the other files compute too much for that.
  set(plain ${core_sources})
  list(FILTER plain INCLUDE REGEX "^src/(api|families|glassformer|tasks)/")
  list(REMOVE_ITEM core_sources ${plain})
  add_library(glassformer_plain OBJECT ${plain})
  target_compile_options(glassformer_plain PRIVATE -O0)
  target_link_libraries(glassformer_plain PRIVATE glassformer_flags)
  glassformer_precompile(glassformer_plain)
  glassformer_unite(glassformer_plain ${alone})
  target_sources(glassformer_core PRIVATE $<TARGET_OBJECTS:glassformer_plain>)
endif()
target_sources(glassformer_core PRIVATE ${core_sources})
glassformer_precompile(glassformer_core)
glassformer_unite(glassformer_core ${alone})
set_target_properties(glassformer_core PROPERTIES OUTPUT_NAME glassformer EXPORT_NAME glassformer)
target_compile_features(glassformer_core PUBLIC cxx_std_20)
# Users of an installed library need neither the flags nor the header libraries.
target_link_libraries(glassformer_core PUBLIC $<BUILD_INTERFACE:glassformer_flags>)

# Libraries that decode picture files: on Debian, libpng-dev, libjpeg62-turbo-dev and libwebp-dev. Users
# of an installed library find them in the same way.
if(NOT EMSCRIPTEN)
  set(find_picture_libraries [[
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
if(NOT TARGET glassformer_webp)
  find_path(GLASSFORMER_WEBP_INCLUDE webp/demux.h REQUIRED)
  find_library(GLASSFORMER_WEBP webp REQUIRED)
  find_library(GLASSFORMER_WEBPDEMUX webpdemux REQUIRED)
  add_library(glassformer_webp INTERFACE IMPORTED)
  set_target_properties(glassformer_webp PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${GLASSFORMER_WEBP_INCLUDE}"
    INTERFACE_LINK_LIBRARIES "${GLASSFORMER_WEBPDEMUX};${GLASSFORMER_WEBP}")
endif()
]])
  cmake_language(EVAL CODE "${find_picture_libraries}")
  target_link_libraries(glassformer_core PRIVATE PNG::PNG JPEG::JPEG glassformer_webp)
endif()

# Compiles the kernels once for one instruction set, in a namespace of its name;
# src/kernels/dispatch.cpp picks one at run time.
function(glassformer_kernels isa)
  add_library(glassformer_kernels_${isa} OBJECT src/kernels/isa.cpp)
  target_link_libraries(glassformer_kernels_${isa} PRIVATE glassformer_flags)
  target_compile_definitions(glassformer_kernels_${isa} PRIVATE GLASSFORMER_ISA=${isa})
  target_compile_options(glassformer_kernels_${isa} PRIVATE ${ARGN})
endfunction()

if(EMSCRIPTEN)
  # A binary gets one of these, with the code that selects it; all other objects are shared.
  foreach(isa simd128 relaxed)
    glassformer_kernels(${isa})
    target_sources(glassformer_kernels_${isa} PRIVATE src/kernels/dispatch.cpp)
  endforeach()
  target_compile_options(glassformer_kernels_relaxed PUBLIC -mrelaxed-simd)
  target_link_options(glassformer_kernels_relaxed INTERFACE -mrelaxed-simd)
  # The kernels do nearly all of the work and get -O2 in every build. Their loops are already
  # vectorized and unrolled: without more of either they are no slower, and 1.7 KB smaller.
  set(computing ${core_sources})
  list(FILTER computing INCLUDE REGEX "^src/(kernels/|weights/floats)")
  set_source_files_properties(
    src/kernels/isa.cpp src/kernels/dispatch.cpp tests/bench/peak.cpp ${computing}
    PROPERTIES COMPILE_OPTIONS "-O2;-fno-vectorize;-fno-slp-vectorize" SKIP_PRECOMPILE_HEADERS TRUE)
else()
  set(isas baseline)
  glassformer_kernels(baseline)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    glassformer_kernels(avx2 -mavx2 -mfma -mf16c)
    # GCC 12 warns about undefined vectors in its own intrinsics (GCC bug 105593).
    set(avx512 -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl -mfma
      $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>)
    glassformer_kernels(avx512 ${avx512})
    glassformer_kernels(avx512vnni ${avx512} -mavx512vnni)
    list(APPEND isas avx2 avx512 avx512vnni)
  endif()
  target_sources(glassformer_core PRIVATE src/kernels/dispatch.cpp)
  foreach(isa ${isas})
    target_sources(glassformer_core PRIVATE $<TARGET_OBJECTS:glassformer_kernels_${isa}>)
  endforeach()
endif()
