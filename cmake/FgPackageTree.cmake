# Run by CPack between installing and packing, see CPACK_PRE_BUILD_SCRIPTS: makes of the installed
# tree what Debian expects of one, and gives every file the same time, and the rights that everybody's
# umask would give it.
set(root "${CPACK_TEMPORARY_DIRECTORY}")
set(source "${CPACK_FG_SOURCE_DIR}")
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(time "$ENV{SOURCE_DATE_EPOCH}")
else()
  set(time "${CPACK_FG_SOURCE_TIME}")
  set(ENV{SOURCE_DATE_EPOCH} "${time}") # for CPack itself, too
endif()

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Moves what cmake --install puts below a prefix to where Debian has it.
function(debian_places usr)
  file(MAKE_DIRECTORY "${root}/lib/systemd" "${root}/etc/default" "${root}/opt/fgcollect")
  file(RENAME "${usr}/lib/systemd/system" "${root}/lib/systemd/system")
  file(REMOVE_RECURSE "${usr}/lib/systemd")
  file(MAKE_DIRECTORY "${usr}/share/zsh/vendor-completions")
  file(RENAME "${usr}/share/zsh/site-functions/_fgcollect"
    "${usr}/share/zsh/vendor-completions/_fgcollect")
  file(REMOVE_RECURSE "${usr}/share/zsh/site-functions")
  # The file is where -agentpath names it and containers may mount it; a link would lead nowhere there.
  file(RENAME "${usr}/lib/fgcollect/libfgagent.so" "${root}/opt/fgcollect/libfgagent.so")
  file(CREATE_LINK /opt/fgcollect/libfgagent.so "${usr}/lib/fgcollect/libfgagent.so" SYMBOLIC)
  configure_file("${source}/collector/fgcollect.default" "${root}/etc/default/fgcollect" COPYONLY)
  set(unit "${root}/lib/systemd/system/fgcollect.service")
  file(READ "${unit}" text)
  string(REPLACE "=fgcollect --watch" "=/usr/bin/fgcollect --watch" text "${text}")
  string(REPLACE "=kill " "=/bin/kill " text "${text}")
  file(WRITE "${unit}" "${text}")
endfunction()

# Its licence is among those that Debian has; texts are compressed without a time in them.
function(debian_texts usr)
  set(doc "${usr}/share/doc/fgcollect")
  file(REMOVE "${doc}/LICENSE")
  configure_file("${source}/cmake/debian/copyright" "${doc}/copyright" COPYONLY)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC) # of SOURCE_DATE_EPOCH
  file(WRITE "${doc}/changelog" "fgcollect (${CPACK_PACKAGE_VERSION}) stable; urgency=low\n\n"
    "  * Version ${CPACK_PACKAGE_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  file(GLOB_RECURSE texts "${usr}/share/man/*.[1-8]" "${doc}/changelog")
  run(gzip -9n ${texts})
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  # CPack goes on without the first, and makes a package that depends on nothing.
  set(missing "")
  find_program(shlibdeps dpkg-shlibdeps)
  if(NOT shlibdeps)
    list(APPEND missing dpkg-dev)
  endif()
  find_program(kind_of_file file)
  if(NOT kind_of_file)
    list(APPEND missing file)
  endif()
  if(missing)
    list(JOIN missing " " missing)
    message(FATAL_ERROR "The Debian package takes more packages. Install them: apt-get install ${missing}")
  endif()
  debian_places("${root}/usr")
  debian_texts("${root}/usr")
endif()
run(chmod -R u=rwX,go=rX "${root}")
run(find "${root}" -exec touch --no-dereference "--date=@${time}" {} +)
