# A Debian package and a tarball, by CPack: cmake --build build --target package, or cpack --preset
# release once it is built.
#
# Both are the same, byte by byte, wherever and whenever they are built from one commit with one
# compiler: FgPackageTree.cmake gives every file the time of the commit, FgPackageTarball.cmake an owner.
set(CPACK_PACKAGE_NAME fgcollect)
set(CPACK_PACKAGE_VENDOR "The authors of fgcollect")
set(CPACK_PACKAGE_CONTACT "The authors of fgcollect <authors@fgcollect.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "flame graphs for Java in containers")
set(CPACK_PACKAGE_DESCRIPTION
"A small agent, loaded when a JVM starts, tells the collector on the host of
every piece of code that the JVM makes or drops. The collector samples with
perf events, walks whole stacks without frame pointers, and draws flame graphs
with compiled and interpreted Java, JVM, native and kernel frames by name.
No JVM is ever attached to.")
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_FILE_NAME
  "fgcollect-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_PACKAGE_CHECKSUM SHA256)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PRE_BUILD_SCRIPTS "${CMAKE_SOURCE_DIR}/cmake/FgPackageTree.cmake")
set(CPACK_POST_BUILD_SCRIPTS "${CMAKE_SOURCE_DIR}/cmake/FgPackageTarball.cmake")
set(CPACK_FG_SOURCE_DIR "${CMAKE_SOURCE_DIR}")

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Those of libraries that the program loads itself are not found there.
list(JOIN FG_LAZY_PACKAGES ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "linux-perf, libdebuginfod1")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(debian "${CMAKE_SOURCE_DIR}/cmake/debian")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  "${debian}/conffiles;${debian}/postinst;${debian}/prerm;${debian}/postrm")

# The time that every file has: of the commit, or for sources without one of the newest change that
# they tell of themselves.
execute_process(COMMAND git -C "${CMAKE_SOURCE_DIR}" log -1 --format=%ct
  OUTPUT_VARIABLE CPACK_FG_SOURCE_TIME OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT CPACK_FG_SOURCE_TIME MATCHES "^[0-9]+$")
  file(TIMESTAMP "${CMAKE_SOURCE_DIR}/CMakeLists.txt" CPACK_FG_SOURCE_TIME "%s" UTC)
endif()
include(CPack)
