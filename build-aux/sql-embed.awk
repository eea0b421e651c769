# Turns a .sql file into a header. "-- name: item_add" starts a statement, which ends at the next
# name or the end of the file; it becomes: static const Sql item_add = {"item_add", "..."};
# Lines of comment before the first name are for readers. To SQLite "$2" is a name, which it would
# have to look for at every call; "?2" is a number. Nothing else in our SQL has a dollar sign.
function finish() {
    if (name != "")
        printf "static const Sql G_GNUC_UNUSED %s = {\"%s\",\n%s};\n", name, name, text
    text = ""
}
/^-- name: / { finish(); name = $3; next }
/^--/ { next }
/^[ \t]*$/ { next }
name != "" {
    line = $0
    gsub(/\\/, "\\\\", line)
    gsub(/"/, "\\\"", line)
    gsub(/\$/, "?", line)
    text = text "    \"" line "\\n\"\n"
}
END { finish() }
