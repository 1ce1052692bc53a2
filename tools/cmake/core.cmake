# The core. Each folder is a layer; tests/repository/layers.test.mjs lists the permitted includes.
file(GLOB_RECURSE core_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}" src/*.cpp)
list(FILTER core_sources EXCLUDE REGEX "^src/(cli/|linked/|kernels/(isa|dispatch)[.]cpp)")
if(EMSCRIPTEN)  # no file system, no picture files, and no classes of the C++ interface
  list(FILTER core_sources EXCLUDE REGEX
    "^src/glassformer/|^src/families/folder/folder_on_disk|^src/image/decode/|^src/tasks/(chat/conversation|load[.])")
else()
  list(APPEND core_sources src/linked/all.cpp src/linked/training_on.cpp)
endif()

add_library(glassformer_core STATIC)
# What decodes pictures.
set(alone "^src/image/decode/"
  "^src/glassformer/(image_classifier|glassformer|zero_shot_image_classifier)[.]")
if(NOT EMSCRIPTEN)
  # What reads, asks and answers, and computes little: less optimization compiles faster (by a third
  # in a release, by half with sanitizers).
  set(plain ${core_sources})
  list(FILTER plain INCLUDE REGEX "^src/(api|families|glassformer|jinja|tasks|text/hub)/")
  list(REMOVE_ITEM core_sources ${plain})
  add_library(glassformer_plain OBJECT ${plain})
  target_compile_options(glassformer_plain PRIVATE
    $<IF:$<BOOL:${GLASSFORMER_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1>>)
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
# of an installed library find them in the same way; a program for texts does not need them.
if(NOT EMSCRIPTEN)
  set(find_picture_libraries [[
find_package(PNG QUIET)
find_package(JPEG QUIET)
find_path(GLASSFORMER_WEBP_INCLUDE webp/demux.h)
find_library(GLASSFORMER_WEBP webp)
find_library(GLASSFORMER_WEBPDEMUX webpdemux)
if(NOT TARGET glassformer_picture_libraries)
  add_library(glassformer_picture_libraries INTERFACE IMPORTED)
endif()
if(PNG_FOUND AND JPEG_FOUND AND GLASSFORMER_WEBP_INCLUDE AND GLASSFORMER_WEBP AND
    GLASSFORMER_WEBPDEMUX)
  set(glassformer_pictures_FOUND TRUE)
  set_target_properties(glassformer_picture_libraries PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${GLASSFORMER_WEBP_INCLUDE}"
    INTERFACE_LINK_LIBRARIES "PNG::PNG;JPEG::JPEG;${GLASSFORMER_WEBPDEMUX};${GLASSFORMER_WEBP}")
endif()
]])
  cmake_language(EVAL CODE "${find_picture_libraries}")
  if(NOT glassformer_pictures_FOUND)
    message(FATAL_ERROR "libpng, libjpeg-turbo or libwebp is missing. On Debian: "
      "apt install libpng-dev libjpeg62-turbo-dev libwebp-dev")
  endif()
  target_link_libraries(glassformer_core PRIVATE glassformer_picture_libraries)
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
