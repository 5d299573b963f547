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

fg_find_header_library(dep::elf libelf.h elf libelf-dev)
fg_find_header_library(dep::dw elfutils/libdw.h dw libdw-dev)
fg_find_header_library(dep::z zlib.h z zlib1g-dev)
fg_find_header_library(dep::lzma lzma.h lzma liblzma-dev)
# Takes machine code apart, to say which instruction a sample's time belongs to.
fg_find_header_library(dep::zydis Zydis/Zydis.h Zydis libzydis-dev)
fg_find_header_library(dep::jansson jansson.h jansson libjansson-dev)
# The daemon's /metrics, and its word to the service manager.
fg_find_header_library(dep::microhttpd microhttpd.h microhttpd libmicrohttpd-dev)
fg_find_header_library(dep::systemd systemd/sd-daemon.h systemd libsystemd-dev)
fg_find_header_library(dep::ncursesw ncurses.h ncursesw libncurses-dev)
fg_find_header_library(dep::tinfo term.h tinfo libncurses-dev)
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
  # The agent and the collector speak the Scalability Protocols to the real library.
  fg_find_header_library(dep::nng nng/nng.h nng libnng-dev)
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
