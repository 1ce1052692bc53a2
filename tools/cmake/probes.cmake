# --- probes for tests/bench: the machine's peak, and the kernels' speed ---------------------------
function(glassformer_probe name target)  # ARGN: libraries to link
  add_executable(${target} EXCLUDE_FROM_ALL tests/bench/${name}.cpp)
  target_link_libraries(${target} PRIVATE glassformer_flags ${ARGN})
  if(EMSCRIPTEN)
    target_link_options(${target} PRIVATE
      -O3 --no-entry -sSTANDALONE_WASM -sALLOW_MEMORY_GROWTH -sINITIAL_MEMORY=32MB)
    set_target_properties(${target} PROPERTIES SUFFIX .wasm)
  endif()
endfunction()
if(EMSCRIPTEN)
  foreach(isa simd128 relaxed)
    glassformer_probe(peak peak_probe.${isa})
    glassformer_probe(gemm gemm_probe.${isa} glassformer_core glassformer_kernels_${isa})
  endforeach()
  target_compile_options(peak_probe.relaxed PRIVATE -mrelaxed-simd)
else()
  glassformer_probe(peak peak_probe)
  glassformer_probe(gemm gemm_probe glassformer_core)
  glassformer_probe(backward backward_probe glassformer_core)
  set_source_files_properties(tests/bench/peak.cpp PROPERTIES
    COMPILE_OPTIONS "-march=native;-ffp-contract=fast")  # overrides the flags of every target
  # Comparison with other libraries, if installed (on Debian, libopenblas-dev and libdnnl-dev).
  find_path(CBLAS_INCLUDE cblas.h)
  find_library(OPENBLAS openblas)
  find_path(DNNL_INCLUDE dnnl.hpp)
  find_library(DNNL dnnl)
  if(CBLAS_INCLUDE AND OPENBLAS AND DNNL_INCLUDE AND DNNL)
    add_executable(blas_probe EXCLUDE_FROM_ALL tests/bench/blas.cpp)
    target_include_directories(blas_probe SYSTEM PRIVATE ${CBLAS_INCLUDE} ${DNNL_INCLUDE})
    target_link_libraries(blas_probe PRIVATE glassformer_core ${OPENBLAS} ${DNNL})
  endif()
endif()
