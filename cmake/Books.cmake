# Makes book_texts.cpp in the build directory: the pages of docs/ and the files of examples/ as texts of the program, see cli/books.hpp.

function(podrun_append_books definitions name files)
  set(text "constexpr Book k${name}[] = {\n")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    get_filename_component(stem ${file} NAME_WE)
    get_filename_component(file_name ${file} NAME)
    file(READ ${file} content)
    string(APPEND text "    {\"${stem}\", \"${file_name}\", R\"podrun_book(${content})podrun_book\"},\n")
  endforeach()
  set(${definitions} "${${definitions}}${text}};\n\n" PARENT_SCOPE)
endfunction()

file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/*.md ${PROJECT_SOURCE_DIR}/docs/*.json)
list(FILTER pages EXCLUDE REGEX architecture)  # for readers of the source
file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.sh ${PROJECT_SOURCE_DIR}/examples/*.yaml)
set(books "// Made from docs/ and examples/ by cmake/Books.cmake.\n#include \"cli/books.hpp\"\n\nnamespace podrun::cli {\nnamespace {\n\n")
podrun_append_books(books Pages "${pages}")
podrun_append_books(books Examples "${examples}")
string(APPEND books "}  // namespace\n\nstd::span<const Book> pages() { return kPages; }\n
std::span<const Book> examples() { return kExamples; }\n\n}  // namespace podrun::cli\n")
file(CONFIGURE OUTPUT book_texts.cpp CONTENT "@books@" @ONLY)
