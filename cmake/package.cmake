# Debian packages, by `cmake --workflow --preset package`: stepcast (programs, data, Python module) and stepcast-dev.
# dpkg-shlibdeps finds the programs' dependencies.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The stepcast authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Forecasts the training step of distributed SGD")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)

set(CPACK_DEBIAN_STEPCAST_PACKAGE_NAME stepcast)
set(CPACK_DEBIAN_STEPCAST_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_STEPCAST_PACKAGE_RECOMMENDS "python3-matplotlib")  # plots
set(CPACK_DEBIAN_STEPCAST_PACKAGE_SUGGESTS "python3-pandas, bash-completion")

set(CPACK_DEBIAN_STEPCAST-DEV_PACKAGE_NAME stepcast-dev)
set(CPACK_DEBIAN_STEPCAST-DEV_PACKAGE_DEPENDS "stepcast (= ${PROJECT_VERSION}), libfmt-dev, nlohmann-json3-dev")
set(CPACK_DEBIAN_STEPCAST-DEV_PACKAGE_RECOMMENDS "cmake, pkgconf, libsimgrid-dev, libsqlite3-dev, libxxhash-dev")

include(CPack)
cpack_add_component(program GROUP stepcast)
cpack_add_component(python GROUP stepcast)
cpack_add_component(development GROUP stepcast-dev)
