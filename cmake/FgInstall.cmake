# What is installed beside the programs, which install themselves: pages of the manual, completions,
# the service. Places are relative, so that --prefix may say where all of it goes.
set(collector "${CMAKE_SOURCE_DIR}/collector")
get_property(generated GLOBAL PROPERTY FG_OPTIONS_DIR)
get_property(generated_pages GLOBAL PROPERTY FG_OPTIONS_PAGES)

file(GLOB pages CONFIGURE_DEPENDS "${collector}/man/*.[1-8]" "${CMAKE_SOURCE_DIR}/jvmti-agent/man/*.[1-8]")
foreach(page IN LISTS pages generated_pages)
  get_filename_component(section "${page}" LAST_EXT)
  string(SUBSTRING "${section}" 1 -1 section)
  install(FILES "${page}" DESTINATION "share/man/man${section}")
endforeach()

install(FILES "${generated}/completions/fgcollect.bash"
  DESTINATION share/bash-completion/completions RENAME fgcollect)
install(FILES "${generated}/completions/_fgcollect" DESTINATION share/zsh/site-functions)
install(FILES "${generated}/completions/fgcollect.fish"
  DESTINATION share/fish/vendor_completions.d)

install(FILES "${collector}/fgcollect.service" DESTINATION lib/systemd/system)
install(FILES "${collector}/fgcollect.tmpfiles" DESTINATION lib/tmpfiles.d RENAME fgcollect.conf)

install(FILES LICENSE README.md DESTINATION share/doc/fgcollect)
install(DIRECTORY docs DESTINATION share/doc/fgcollect)
