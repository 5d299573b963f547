# fg_embed(symbol header file...): texts of scripts or styles, one behind the other, as `const char symbol[]`,
# terminated, in a C file of its own, which includes header; and symbol_sha256, the hash by which a page's policy
# allows them. Every page has them, so comments that have lines of their own, but for the first line, and
# indentation are left out.
function(fg_embed symbol header)
  set(text "")
  foreach(file IN LISTS ARGN)
    get_filename_component(path "${file}" ABSOLUTE) # one name for a file that two folders embed
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    file(READ "${file}" part)
    string(APPEND text "${part}")
  endforeach()
  string(REGEX REPLACE "\n[\t ]*/[*]([^*]|[*]+[^*/])*[*]+/" "" text "${text}")
  string(REGEX REPLACE "\n[\t ]*//[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n[\t\n ]+" "\n" text "${text}")
  string(HEX "${text}" hex)
  string(SHA256 hash "${text}")
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " bytes "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1, " hash "${hash}")
  file(CONFIGURE OUTPUT "${symbol}.c" CONTENT
    "#include \"@header@\"\n\nconst char @symbol@[] = {\n@bytes@ 0};\nconst unsigned char @symbol@_sha256[32] = {@hash@};\n" @ONLY)
endfunction()
