# Finds every library and header, and names the package to install for each one that is missing.
find_package(PkgConfig)
if(NOT PKG_CONFIG_FOUND)
  message(FATAL_ERROR "pkg-config is missing. Install it: apt-get install pkg-config")
endif()

set(FG_MISSING "")

# fg_find_header_library(TARGET header library package): a library without a usable .pc file.
function(fg_find_header_library target header library package)
  string(MAKE_C_IDENTIFIER "FG_${library}" id)
  find_path(${id}_INCLUDE ${header})
  find_library(${id}_LIBRARY ${library})
  if(NOT ${id}_INCLUDE OR NOT ${id}_LIBRARY)
    set(FG_MISSING "${FG_MISSING};${package}" PARENT_SCOPE)
    return()
  endif()
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE "${${id}_INCLUDE}")
  target_link_libraries(${target} INTERFACE "${${id}_LIBRARY}")
endfunction()

# fg_find_lazy_library(TARGET NAME header library package): a library that is loaded when it is first
# needed. The target has its headers, FG_<NAME>_FILE is the file that a linker would have noted, and
# FG_LAZY_PACKAGES gets the Debian package of the file, where this is Debian.
function(fg_find_lazy_library target name header library package)
  string(MAKE_C_IDENTIFIER "FG_${library}" id)
  fg_find_header_library(${target} ${header} ${library} ${package})
  if(NOT TARGET ${target})
    set(FG_MISSING "${FG_MISSING}" PARENT_SCOPE)
    return()
  endif()
  set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "")
  set(path "${${id}_LIBRARY}")
  # A script of the linker, as ncurses has one, names the library.
  file(READ "${path}" script LIMIT 2048)
  if(script MATCHES "(INPUT|GROUP)[ ]*\\([ ]*([^ )]+)")
    set(named "${CMAKE_MATCH_2}")
    get_filename_component(folder "${path}" DIRECTORY)
    get_filename_component(path "${named}" ABSOLUTE BASE_DIR "${folder}")
  endif()
  execute_process(COMMAND "${CMAKE_READELF}" -d "${path}"
    OUTPUT_VARIABLE dynamic ERROR_QUIET)
  if(NOT dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
    message(FATAL_ERROR "${path} is no shared library with a name")
  endif()
  set(FG_${name}_FILE "${CMAKE_MATCH_1}" PARENT_SCOPE)
  get_filename_component(real "${path}" REALPATH)
  # Where /lib is a link to /usr/lib, dpkg knows a file by the one name or the other.
  string(REGEX REPLACE "^/usr/lib" "/lib" other "${real}")
  foreach(name_of_file "${real}" "${other}")
    execute_process(COMMAND dpkg-query --search "${name_of_file}"
      OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE status)
    if(NOT status EQUAL 1)
      break()
    endif()
  endforeach()
  if(status EQUAL 1)
    message(WARNING "No package has ${real}; a package made here will not depend on it")
  endif()
  if(owner MATCHES "^([a-z0-9.+-]+)")
    list(APPEND FG_LAZY_PACKAGES "${CMAKE_MATCH_1}")
    set(FG_LAZY_PACKAGES "${FG_LAZY_PACKAGES}" PARENT_SCOPE)
  endif()
endfunction()

fg_find_header_library(dep::elf libelf.h elf libelf-dev)
fg_find_header_library(dep::dw elfutils/libdw.h dw libdw-dev)
fg_find_header_library(dep::z zlib.h z zlib1g-dev)
fg_find_header_library(dep::lzma lzma.h lzma liblzma-dev)
# Loads the BPF program that takes samples in the kernel; clang compiles it.
fg_find_header_library(dep::bpf bpf/libbpf.h bpf libbpf-dev)
find_program(FG_BPF_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14)
if(NOT FG_BPF_CLANG)
  list(APPEND FG_MISSING clang)
endif()
# Takes machine code apart, to say which instruction a sample's time belongs to.
fg_find_header_library(dep::zydis Zydis/Zydis.h Zydis libzydis-dev)
fg_find_header_library(dep::jansson jansson.h jansson libjansson-dev)
# The daemon's /metrics, and its word to the service manager.
fg_find_lazy_library(dep::microhttpd MICROHTTPD microhttpd.h microhttpd libmicrohttpd-dev)
# The same server's TLS.
fg_find_lazy_library(dep::gnutls GNUTLS gnutls/gnutls.h gnutls libgnutls28-dev)
fg_find_lazy_library(dep::systemd SYSTEMD systemd/sd-daemon.h systemd libsystemd-dev)
# The index of the daemon's store.
fg_find_lazy_library(dep::sqlite SQLITE sqlite3.h sqlite3 libsqlite3-dev)
# What the daemon pushes goes out by HTTP; the files that say how are YAML.
fg_find_lazy_library(dep::curl CURL curl/curl.h curl libcurl4-openssl-dev)
fg_find_lazy_library(dep::yaml YAML yaml.h yaml libyaml-dev)
# Files compressed by zstd that render and diff read.
fg_find_lazy_library(dep::zstd ZSTD zstd.h zstd libzstd-dev)
# The daemon's --publish.
fg_find_lazy_library(dep::nng NNG nng/nng.h nng libnng-dev)
fg_find_lazy_library(dep::ncurses NCURSES ncurses.h ncursesw libncurses-dev)
fg_find_header_library(dep::iberty libiberty/demangle.h iberty libiberty-dev)
# pprof's messages; the generator runs at build time.
fg_find_header_library(dep::nanopb pb_decode.h protobuf-nanopb libnanopb-dev)
find_program(FG_NANOPB_GENERATOR NAMES nanopb_generator.py nanopb_generator)
find_program(FG_PROTOC protoc)
if(NOT FG_NANOPB_GENERATOR)
  list(APPEND FG_MISSING nanopb)
endif()
if(NOT FG_PROTOC)
  list(APPEND FG_MISSING protobuf-compiler)
endif()
if(BUILD_TESTING)
  fg_find_header_library(dep::cmocka cmocka.h cmocka libcmocka-dev)
  # The peer of the agent and of the collector's intake.
  fg_find_header_library(dep::nng_linked nng/nng.h nng libnng-dev)
  # Looks into a store from the side.
  fg_find_header_library(dep::sqlite_linked sqlite3.h sqlite3 libsqlite3-dev)
endif()
find_package(Threads REQUIRED)

file(GLOB FG_JDK_HOMES "/usr/lib/jvm/*")
find_path(FG_JVMTI_INCLUDE jvmti.h
  HINTS "$ENV{JAVA_HOME}/include" PATHS ${FG_JDK_HOMES} PATH_SUFFIXES include)
find_path(FG_JNI_MD_INCLUDE jni_md.h HINTS "${FG_JVMTI_INCLUDE}/linux")
if(NOT FG_JVMTI_INCLUDE OR NOT FG_JNI_MD_INCLUDE)
  list(APPEND FG_MISSING openjdk-17-jdk-headless)
else()
  add_library(dep::jvmti INTERFACE IMPORTED GLOBAL)
  target_include_directories(dep::jvmti SYSTEM INTERFACE
    "${FG_JVMTI_INCLUDE}" "${FG_JNI_MD_INCLUDE}")
endif()

if(FG_MISSING)
  list(REMOVE_DUPLICATES FG_MISSING)
  list(JOIN FG_MISSING " " FG_MISSING_LINE)
  message(FATAL_ERROR "Missing dependencies. Install them: apt-get install ${FG_MISSING_LINE}")
endif()
