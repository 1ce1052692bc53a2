# The package's binaries. They come without JavaScript: wasm/src instantiates them. There is one with
# everything, one with only the models that read texts (a smaller download), and one with threads and
# everything but training. Each is linked twice: with kernels for every engine with SIMD128, and for engines with
# relaxed SIMD.
if(GLASSFORMER_QUICK)
  set(link_flags -O1)
else()
  set(link_flags -Oz
    "SHELL:-Wl,-mllvm,-unroll-runtime=false -Wl,-mllvm,-unroll-allow-partial=false"
    # Smaller by 1 %: functions that are the same share their code, and fewer are inlined.
    "SHELL:-Wl,-mllvm,-enable-merge-functions -Wl,-mllvm,-sink-common-insts"
    "SHELL:-Wl,-mllvm,-inline-threshold=-20")
endif()

add_library(glassformer_binding OBJECT wasm/binding.cpp)
add_library(glassformer_tables_all OBJECT src/linked/all.cpp src/linked/training_on.cpp)
add_library(glassformer_tables_read OBJECT src/linked/read.cpp src/linked/training_off.cpp)
# A training has one thread.
add_library(glassformer_tables_threads OBJECT src/linked/all.cpp src/linked/training_off.cpp)
foreach(part glassformer_binding
    glassformer_tables_all glassformer_tables_read glassformer_tables_threads)
  target_link_libraries(${part} PRIVATE glassformer_core)
  if(GLASSFORMER_PRECOMPILE)
    target_precompile_headers(${part} REUSE_FROM glassformer_core)
  endif()
endforeach()

function(glassformer_wasm scope)  # ARGN: options of the linker
  set(name glassformer)
  if(NOT scope STREQUAL "all")
    string(APPEND name ".${scope}")
  endif()
  foreach(isa simd128 relaxed)
    set(binary glassformer_${scope}_${isa})
    add_executable(${binary} $<TARGET_OBJECTS:glassformer_binding>
      $<TARGET_OBJECTS:glassformer_tables_${scope}>)
    target_link_libraries(${binary} PRIVATE glassformer_kernels_${isa} glassformer_core)
    target_link_options(${binary} PRIVATE
      --no-entry -sALLOW_MEMORY_GROWTH -sSTACK_SIZE=256KB -sMALLOC=emmalloc ${ARGN})
    set_target_properties(${binary} PROPERTIES OUTPUT_NAME "${name}" SUFFIX .wasm)
    if(isa STREQUAL "relaxed")
      set_target_properties(${binary} PROPERTIES OUTPUT_NAME "${name}.relaxed")
    endif()
  endforeach()
endfunction()

# Their only import is env.emscripten_notify_memory_growth.
if(NOT GLASSFORMER_SHARED_MEMORY)
  glassformer_wasm(all -sSTANDALONE_WASM ${link_flags})
  glassformer_wasm(read -sSTANDALONE_WASM ${link_flags})
endif()

# With threads, the memory is imported, too. Emscripten writes scripts beside the binary, which are
# not used: wasm/src/engine/threads.ts starts the threads. Engines reserve address space for the most
# memory.
if(GLASSFORMER_SHARED_MEMORY OR GLASSFORMER_QUICK)
  # From -O2 on, Emscripten renames imports and exports for its scripts; so it links only, and
  # Binaryen optimizes.
  list(TRANSFORM link_flags REPLACE "^-Oz$" "-O1;SHELL:-Wl,--lto-O2")
  add_library(glassformer_threads OBJECT wasm/threads.cpp)
  target_link_libraries(glassformer_threads PRIVATE glassformer_flags)
  glassformer_wasm(threads -sWASM_WORKERS=1 -sMAXIMUM_MEMORY=4GB -sINITIAL_MEMORY=4MB
    ${link_flags})
  foreach(isa simd128 relaxed)
    set(binary glassformer_threads_${isa})
    target_sources(${binary} PRIVATE $<TARGET_OBJECTS:glassformer_threads>)
    set_target_properties(${binary} PROPERTIES SUFFIX .mjs)
    if(NOT GLASSFORMER_QUICK)
      execute_process(COMMAND "${EMSCRIPTEN_ROOT_PATH}/em-config" BINARYEN_ROOT
        OUTPUT_VARIABLE binaryen OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
      get_target_property(name ${binary} OUTPUT_NAME)
      add_custom_command(TARGET ${binary} POST_BUILD
        COMMAND "${binaryen}/bin/wasm-opt" -Oz --strip-debug --strip-producers
          --enable-threads --enable-bulk-memory --enable-simd --enable-relaxed-simd
          --enable-exception-handling --enable-sign-ext --enable-mutable-globals
          ${name}.wasm -o ${name}.wasm VERBATIM)
    endif()
  endforeach()
endif()
