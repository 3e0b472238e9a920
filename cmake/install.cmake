# `cmake --install` copies three components: program (programs, data, completions, manual pages), python (the module),
# development (headers, libraries, find_package). cmake/package.cmake makes Debian packages of them.
set(data ${CMAKE_INSTALL_DATADIR}/stepcast)
set(cmake_files ${CMAKE_INSTALL_LIBDIR}/cmake/stepcast)

# One line reports a tree that was not built.
install(CODE "if(NOT EXISTS \"$<TARGET_FILE:stepcast>\")
  message(FATAL_ERROR \"nothing is built yet: cmake --build ${PROJECT_BINARY_DIR}\")
endif()" COMPONENT program)
set_target_properties(stepcast stepcast-calibrate stepcast_simulator PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)  # to libraries in folders of their own, such as CUDA's
install(TARGETS stepcast stepcast-calibrate RUNTIME COMPONENT program)
install(TARGETS stepcast_simulator LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/stepcast COMPONENT program)
install(DIRECTORY scenarios DESTINATION ${data} COMPONENT program
        PATTERN "scripts" EXCLUDE)  # these write the files, from the sources
install(DIRECTORY notebooks DESTINATION ${data} COMPONENT program FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)
file(GLOB torch_scripts CONFIGURE_DEPENDS calibrate/*.py)
install(PROGRAMS ${torch_scripts} DESTINATION ${data}/calibrate COMPONENT program)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

# Debian's zsh looks into vendor-completions, others into site-functions.
install(FILES completions/stepcast.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stepcast COMPONENT program)
install(FILES completions/stepcast.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME stepcast-calibrate COMPONENT program)
install(FILES completions/_stepcast DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
install(FILES completions/_stepcast DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT program)
install(FILES completions/stepcast.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
install(FILES completions/stepcast.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d RENAME stepcast-calibrate.fish COMPONENT program)

# Each program writes its manual page from its own help.
foreach(program stepcast stepcast-calibrate)
  set(page ${PROJECT_BINARY_DIR}/man/${program}.1)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/man
    COMMAND ${program} __man > ${page} VERBATIM)
  list(APPEND pages ${page})
endforeach()
add_custom_target(stepcast_manual ALL DEPENDS ${pages})
install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)

set(STEPCAST_PYTHON_FOLDER lib/python3/dist-packages CACHE STRING "Where the Python module is installed, below the prefix; Debian's Python looks there below /usr")
install(DIRECTORY sim/python/stepcast DESTINATION ${STEPCAST_PYTHON_FOLDER} COMPONENT python FILES_MATCHING PATTERN "*.py" PATTERN "__pycache__" EXCLUDE)

# Libraries, for find_package(stepcast). Their fmt has to be a package as well.
if(NOT fmt_FOUND OR NOT STEPCAST_MODELS)
  return()
endif()
install(DIRECTORY models sim DESTINATION ${STEPCAST_HEADERS} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "sim/program" EXCLUDE PATTERN "sim/python" EXCLUDE PATTERN "compat.hpp" EXCLUDE)
set(exported stepcast_workloads stepcast_collectives stepcast_models)
install(TARGETS ${exported} EXPORT stepcast-models ARCHIVE COMPONENT development)
install(TARGETS stepcast_program stepcast_mpi stepcast_sim EXPORT stepcast-sim ARCHIVE COMPONENT development)
foreach(library workloads collectives models program mpi sim)
  set_target_properties(stepcast_${library} PROPERTIES EXPORT_NAME ${library})
endforeach()
foreach(set models sim)
  install(EXPORT stepcast-${set} NAMESPACE stepcast:: DESTINATION ${cmake_files} COMPONENT development)
endforeach()
include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/stepcast-config.cmake.in stepcast-config.cmake
  INSTALL_DESTINATION ${cmake_files} PATH_VARS CMAKE_INSTALL_DATADIR STEPCAST_HEADERS)
write_basic_package_version_file(stepcast-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/stepcast-config.cmake ${PROJECT_BINARY_DIR}/stepcast-config-version.cmake
        DESTINATION ${cmake_files} COMPONENT development)
