# fg_embed(symbol header file...): texts, one behind the other, as `const char symbol[]`, terminated, in a C
# file of its own, which includes header; and symbol_sha256, the hash by which a page's policy allows
# them.
function(fg_embed symbol header)
  set(hex "")
  set(text "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE) # one name for a file that two folders embed
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${file}" part HEX)
    string(APPEND hex "${part}")
    file(READ "${file}" part)
    string(APPEND text "${part}")
  endforeach()
  string(SHA256 hash "${text}")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hash "${hash}")
  file(CONFIGURE OUTPUT "${symbol}.c" CONTENT
    "#include \"@header@\"\n\nconst char @symbol@[] = {\n@bytes@ 0};\nconst unsigned char @symbol@_sha256[32] = {@hash@};\n" @ONLY)
endfunction()
