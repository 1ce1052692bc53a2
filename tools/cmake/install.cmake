# --- cmake --install -------------------------------------------------------------------------------
# Installs the command line, the library with its public headers, and the files that
# find_package(glassformer) reads.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/glassformer")
install(TARGETS glassformer)
install(TARGETS glassformer_core EXPORT glassformer
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY src/glassformer DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING PATTERN "*.hpp")
# The headers of lower layers that the public ones include. They are installed in folders of
# include/glassformer, and included by their names there.
set(GLASSFORMER_VALUES
  api/encoder_options.hpp
  api/label_score.hpp
  api/load_options.hpp
  api/output.hpp
  api/tasks/answer.hpp
  api/tasks/chat.hpp
  api/tasks/classify.hpp
  api/tasks/embed.hpp
  api/tasks/explain.hpp
  api/tasks/fill.hpp
  api/tasks/generate.hpp
  api/tasks/image.hpp
  api/tasks/match.hpp
  api/tasks/steer.hpp
  api/tasks/tag.hpp
  api/tasks/tokenize.hpp
  api/tasks/translate.hpp
  api/text_input.hpp
  api/tokens.hpp
  base/error_code.hpp
  base/fields.hpp
  base/option.hpp
  base/result_field.hpp
  explain/circuits/circuit.hpp
  explain/dictionaries/graph.hpp
  explain/results.hpp
  families/config/early_stopping.hpp
  families/config/sampling_settings.hpp
  families/config/token_pooling.hpp
  image/picture.hpp
  kernels/compute.hpp
  run/attention_map.hpp
  run/trace/patch.hpp
  run/trace/traced_tensor.hpp)
foreach(header ${GLASSFORMER_VALUES})
  cmake_path(GET header PARENT_PATH folder)
  install(FILES src/${header} DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/glassformer/${folder}")
endforeach()
install(CODE "set(values \"${GLASSFORMER_VALUES}\")")
install(CODE "set(folder \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}\")")
install(CODE [[
  file(GLOB_RECURSE headers "${folder}/glassformer/*.hpp")
  foreach(header ${headers})
    file(READ "${header}" text)
    foreach(value ${values})
      string(REPLACE "#include \"${value}\"" "#include \"glassformer/${value}\"" text "${text}")
    endforeach()
    file(WRITE "${header}" "${text}")
  endforeach()
]])
install(EXPORT glassformer DESTINATION "${package}"
  NAMESPACE glassformer:: FILE glassformerTargets.cmake)
file(WRITE "${CMAKE_BINARY_DIR}/glassformerConfig.cmake"
  "${find_picture_libraries}" [[
if(glassformer_FIND_REQUIRED_pictures AND NOT glassformer_pictures_FOUND)
  set(glassformer_FOUND FALSE)
  set(glassformer_NOT_FOUND_MESSAGE "pictures: libpng, libjpeg-turbo or libwebp is missing")
  return()
endif()
include("${CMAKE_CURRENT_LIST_DIR}/glassformerTargets.cmake")
]])
# Before 1.0, a minor version may change the headers.
write_basic_package_version_file(glassformerConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/glassformerConfig.cmake"
  "${CMAKE_BINARY_DIR}/glassformerConfigVersion.cmake" DESTINATION "${package}")
# The command writes its own manual page and completions.
if(NOT CMAKE_CROSSCOMPILING)
  set(written "${CMAKE_BINARY_DIR}/written")
  add_custom_command(TARGET glassformer POST_BUILD
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${written}"
    COMMAND glassformer manual > "${written}/glassformer.1"
    COMMAND glassformer completion bash > "${written}/glassformer.bash"
    COMMAND glassformer completion zsh > "${written}/_glassformer"
    COMMAND glassformer completion fish > "${written}/glassformer.fish"
    VERBATIM)
  install(FILES "${written}/glassformer.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  set(share "${CMAKE_INSTALL_DATADIR}")
  install(FILES "${written}/glassformer.bash" RENAME glassformer
    DESTINATION "${share}/bash-completion/completions")
  install(FILES "${written}/_glassformer" DESTINATION "${share}/zsh/site-functions")
  install(FILES "${written}/glassformer.fish" DESTINATION "${share}/fish/vendor_completions.d")
endif()
install(FILES LICENSE THIRD_PARTY_NOTICES DESTINATION "${CMAKE_INSTALL_DOCDIR}")
