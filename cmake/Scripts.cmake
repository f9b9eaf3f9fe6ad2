# Makes the sh text that runs on the hosts from its fragments, so that nothing travels that is only for readers.

# LIST: a file with a line "NAME FRAGMENT..." for each text. Sets PODRUN_<NAME>_SH, without comments and blank lines.
function(podrun_assemble_scripts list)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^[^#]")
  foreach(line ${lines})
    string(REPLACE " " ";" fragments ${line})
    list(POP_FRONT fragments name)
    set(text "")
    foreach(fragment ${fragments})
      set(file podrun/${fragment}.sh)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
      file(READ ${file} part)
      string(APPEND text "${part}")
    endforeach()
    string(REGEX REPLACE "(^|\n)( *(#[^\n]*)?\n)+" "\\1" text "${text}")
    set(PODRUN_${name}_SH "${text}" PARENT_SCOPE)
  endforeach()
endfunction()

# Makes one line of each of these texts, see shell_line.hpp. Commands are joined by ";". Nothing may stand between quotes that
# looks like the end of a line, nor "(" in the pattern of a case that ends one.
function(podrun_join_lines)
  foreach(name ${ARGN})
    set(text "${${name}}")
    string(REGEX REPLACE "\n +" "\n" text "${text}")
    string(REGEX REPLACE "(\n[^(\n]+[)])\n" "\\1" text "${text}")
    string(REGEX REPLACE "([ \n](then|do|else|in)|[{(&|;])\n" "\\1 " text "${text}")
    string(REGEX REPLACE "\n$" "" text "${text}")
    string(REPLACE "\n" ";" text "${text}")
    set(${name} "${text}" PARENT_SCOPE)
  endforeach()
endfunction()
