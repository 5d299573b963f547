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

# The plug-in of kubectl is found in PATH.
install(PROGRAMS docker/kubernetes/kubectl-fgcollect DESTINATION bin)

# What pages link to is installed too, at the place that links say: images, manifests, the seccomp
# profile and examples in docker/, and the pages of the source's folders.
set(doc share/doc/fgcollect)
install(FILES LICENSE README.md CHANGELOG.md CONTRIBUTING.md DESTINATION "${doc}")
install(DIRECTORY docs DESTINATION "${doc}")
install(DIRECTORY docker DESTINATION "${doc}" USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
foreach(page collector/README.md collector/LIMITS.md collector/GLOSSARY.md collector/DESIGN-NOTES.md
    collector/options/README.md jvmti-agent/README.md shared/README.md tests/README.md)
  get_filename_component(folder "${page}" DIRECTORY)
  install(FILES "${page}" DESTINATION "${doc}/${folder}")
endforeach()
