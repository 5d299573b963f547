# Run by CPack when a package is made, see CPACK_POST_BUILD_SCRIPTS: packs the tarball anew, for CPack
# writes into it who has built it, and in which order a directory was read. What is unpacked by root
# would belong to somebody.
if(CPACK_GENERATOR STREQUAL "TGZ")
  get_filename_component(place "${CPACK_TEMPORARY_DIRECTORY}" DIRECTORY)
  get_filename_component(name "${CPACK_TEMPORARY_DIRECTORY}" NAME)
  string(REGEX REPLACE "[.]gz$" "" tar "${CPACK_PACKAGE_FILES}")
  execute_process(COMMAND tar -C "${place}" -cf "${tar}" --format=gnu --sort=name --owner=root:0
    --group=root:0 "${name}" COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND gzip -9nf "${tar}" COMMAND_ERROR_IS_FATAL ANY)
endif()
