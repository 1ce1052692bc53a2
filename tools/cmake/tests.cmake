enable_testing()

# Catch2 comes as one source file (on Debian, unpacked by the set-up) or as a system package.
set(catch_source "${CMAKE_SOURCE_DIR}/.toolchain/debian/catch_amalgamated.cpp")
if(EXISTS "${catch_source}")
  add_library(catch2 STATIC "${catch_source}")
  target_include_directories(catch2 SYSTEM PUBLIC "${GLASSFORMER_INCLUDE}")
  target_compile_options(catch2 PRIVATE -O0 -g0)
else()
  find_package(Catch2 3 REQUIRED)
  add_library(catch2 ALIAS Catch2::Catch2WithMain)
endif()

file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_SOURCE_DIR}"
  tests/native/*.cpp)
list(APPEND test_sources src/cli/files/manifest.cpp)

if(test_sources)
  add_executable(glassformer_tests ${test_sources})
  target_compile_options(glassformer_tests PRIVATE -O0)  # compiles in a third of the time
  target_include_directories(glassformer_tests PRIVATE tests/native)
  target_link_libraries(glassformer_tests PRIVATE glassformer_core OpenSSL::Crypto catch2)
  glassformer_precompile(glassformer_tests <fstream> <nlohmann/json.hpp> <random> <sstream>
    <catch2/catch_test_macros.hpp> <catch2/generators/catch_generators.hpp>
    <catch2/generators/catch_generators_range.hpp> <catch2/matchers/catch_matchers_string.hpp>)
  glassformer_unite(glassformer_tests)
  # Tests find their fixtures through this path.
  target_compile_definitions(glassformer_tests PRIVATE
    GLASSFORMER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  foreach(part RANGE 3)  # four parts, which can run in parallel
    add_test(NAME native_${part} COMMAND glassformer_tests --shard-count 4 --shard-index ${part})
  endforeach()
endif()

# Fuzzers. With the sanitizers, a small driver runs each fuzzer as a test, over its seeds and
# mutations of them. To use libFuzzer itself, with Clang:
#   cmake -B build/fuzz -DCMAKE_CXX_COMPILER=clang++ -DGLASSFORMER_SANITIZE=ON -DGLASSFORMER_LIBFUZZER=ON
#   cmake --build build/fuzz && build/fuzz/config_fuzzer tests/fuzz/corpus/config
if(GLASSFORMER_SANITIZE)
  option(GLASSFORMER_LIBFUZZER "link the fuzzers with Clang's libFuzzer" OFF)
  function(glassformer_fuzzer_of target)  # compiled like the tests
    target_compile_options(${target} PRIVATE -O0)
    target_link_libraries(${target} PRIVATE glassformer_core)
    target_compile_definitions(${target} PRIVATE GLASSFORMER_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    if(GLASSFORMER_PRECOMPILE)
      target_precompile_headers(${target} REUSE_FROM glassformer_tests)
    endif()
  endfunction()
  function(glassformer_fuzzer name count)
    add_executable(${name}_fuzzer tests/fuzz/${name}_fuzzer.cpp)
    glassformer_fuzzer_of(${name}_fuzzer)
    if(GLASSFORMER_LIBFUZZER)
      target_link_options(${name}_fuzzer PRIVATE -fsanitize=fuzzer)
    else()
      target_sources(${name}_fuzzer PRIVATE tests/fuzz/driver.cpp)
      list(TRANSFORM ARGN PREPEND "${CMAKE_SOURCE_DIR}/tests/")
      add_test(NAME fuzz_${name} COMMAND ${name}_fuzzer ${count} ${ARGN})
    endif()
  endfunction()
  if(GLASSFORMER_LIBFUZZER)
    target_compile_options(glassformer_flags INTERFACE -fsanitize=fuzzer-no-link)
  endif()
  glassformer_fuzzer(config 50000 fuzz/corpus/config)
  glassformer_fuzzer(json 50000 fuzz/corpus/json)
  glassformer_fuzzer(picture 10000 fixtures/pictures/files)
  glassformer_fuzzer(regex 5000 fuzz/corpus/regex)
  glassformer_fuzzer(safetensors 100000 fuzz/corpus/safetensors)
  glassformer_fuzzer(shortlist 50000 fuzz/corpus/shortlist)
  glassformer_fuzzer(template 20000 fuzz/corpus/template)
  glassformer_fuzzer(tensor_container 100000 fuzz/corpus/tensor_container)
  glassformer_fuzzer(tokenizer_model 30000
    fixtures/data/tokenizer/bpe.model fixtures/data/tokenizer/spaces.model
    fixtures/data/tokenizer/suffix.model)
  glassformer_fuzzer(tokenizer_encode 50000 fuzz/corpus/text)
  glassformer_fuzzer(tokenizer_json 5000
    fixtures/data/tokenizers/bytes_masked.json fixtures/data/tokenizers/mixed.json
    fixtures/data/tokenizers/unigram_bytes.json fixtures/data/tokenizers/wordpiece_uncased.json)
  glassformer_fuzzer(classify_text 3000 fuzz/corpus/text)
  glassformer_fuzzer(translate_text 300 fuzz/corpus/text)
  # Has its own main, because its input is a folder; its source describes long runs.
  add_executable(published_folder_fuzzer tests/fuzz/published_folder_fuzzer.cpp)
  glassformer_fuzzer_of(published_folder_fuzzer)
  add_test(NAME fuzz_published_folder COMMAND published_folder_fuzzer 300)
endif()
