# Compiler flags, and the functions by which folders declare themselves.
add_library(fg_flags INTERFACE)
target_compile_options(fg_flags INTERFACE
  -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes -Wmissing-prototypes -Wundef)
# A program is the same wherever it is built.
set(FG_ANYWHERE $<$<NOT:$<CONFIG:Debug>>:
  -ffile-prefix-map=${CMAKE_SOURCE_DIR}=. -ffile-prefix-map=${CMAKE_BINARY_DIR}=./build>)
target_compile_options(fg_flags INTERFACE ${FG_ANYWHERE})
if(FG_WERROR)
  target_compile_options(fg_flags INTERFACE -Werror)
endif()

add_library(fg_sanitize INTERFACE)
if(FG_SANITIZE)
  target_compile_options(fg_sanitize INTERFACE
    -fsanitize=${FG_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(fg_sanitize INTERFACE -fsanitize=${FG_SANITIZE})
  target_compile_definitions(fg_sanitize INTERFACE FG_SANITIZED) # compilers have no word in common
endif()
if(FG_FUZZ)
  target_compile_options(fg_sanitize INTERFACE -fsanitize=fuzzer-no-link) # counts edges of code
endif()

# What tests see: the headers of all stages. See fg_stage.
add_library(fg_headers INTERFACE)

# fg_stage(name SOURCES ... USES ... USES_INSIDE ...): a folder of the collector as a static library
# fg_<name>.
#
# A stage sees the headers of itself, of what it USES, whose types are in its headers, and of what it
# USES_INSIDE, in its .c files alone; and of what the headers of these use. It sees nothing else: each
# folder is reachable through an include directory of its own that holds one link to it. Including
# from a later folder therefore does not compile.
function(fg_stage name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;USES_INSIDE;LIBRARIES" ${ARGN})
  set(view "${CMAKE_BINARY_DIR}/include/${name}")
  file(MAKE_DIRECTORY "${view}")
  file(CREATE_LINK "${CMAKE_CURRENT_SOURCE_DIR}" "${view}/${name}" SYMBOLIC)
  add_library(fg_${name} STATIC ${ARG_SOURCES})
  target_include_directories(fg_${name} PUBLIC "${view}")
  target_include_directories(fg_headers INTERFACE "${view}")
  target_compile_definitions(fg_${name} PRIVATE _GNU_SOURCE)
  target_link_libraries(fg_${name} PRIVATE fg_flags PUBLIC fg_sanitize ${ARG_LIBRARIES})
  foreach(used IN LISTS ARG_USES)
    target_link_libraries(fg_${name} PUBLIC fg_${used})
  endforeach()
  foreach(used IN LISTS ARG_USES_INSIDE)
    target_link_libraries(fg_${name} PRIVATE fg_${used})
  endforeach()
endfunction()

# Behind fg_flags: cmocka gives each test a state, which few have a use for.
add_library(fg_cmocka INTERFACE)
target_compile_options(fg_cmocka INTERFACE -Wno-unused-parameter)
target_link_libraries(fg_cmocka INTERFACE dep::cmocka)

# What starts threads, or links what does: `threads` is a label, and a target that builds all of it.
add_custom_target(threads)
function(fg_has_threads target)
  add_dependencies(threads ${target})
  set_property(TEST ${ARGN} APPEND PROPERTY LABELS threads)
endfunction()

# fg_unit_test(name SOURCES ... USES ... [LIBRARIES ...] [THREADS]): a cmocka program, run by ctest
# as unit.<name>; it has the headers of tests/unit/common. One that returns 77 has found that the
# machine lacks what all of it needs. THREADS: see above; source.threads says where the word is
# missing. MACHINE: the program looks at what the kernel does meanwhile, and when (label `machine`).
function(fg_unit_test name)
  cmake_parse_arguments(ARG "THREADS;MACHINE" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  add_executable(test_${name} ${ARG_SOURCES})
  target_compile_definitions(test_${name} PRIVATE _GNU_SOURCE
    FG_SOURCE_DIR="${CMAKE_SOURCE_DIR}" FG_BINARY_DIR="${CMAKE_BINARY_DIR}")
  target_link_libraries(test_${name} PRIVATE
    fg_flags fg_sanitize fg_tests_common fg_headers ${ARG_LIBRARIES})
  foreach(used IN LISTS ARG_USES)
    target_link_libraries(test_${name} PRIVATE fg_${used})
  endforeach()
  add_test(NAME unit.${name} COMMAND test_${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 400 SKIP_RETURN_CODE 77)
  if(ARG_THREADS)
    fg_has_threads(test_${name} unit.${name})
  endif()
  if(ARG_MACHINE)
    set_property(TEST unit.${name} APPEND PROPERTY LABELS machine)
  endif()
endfunction()
