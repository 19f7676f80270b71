# c.awk - tells C code from comments, one line at a time.
#
# c_split(line) sets c_code to the line without comments and with its string and character
# literals emptied, and c_text to what its comments say.  Call c_reset() where a file begins.
function c_reset() { c_inside = 0 }

function c_split(line,    end, mark, rest, i, ch) {
    c_code = ""
    c_text = ""
    rest = line
    for (;;) {
        if (c_inside) {
            end = index(rest, "*/")
            if (!end) {
                c_text = c_text " " rest
                return
            }
            c_text = c_text " " substr(rest, 1, end - 1)
            rest = substr(rest, end + 2)
            c_inside = 0
            c_code = c_code " "
        }
        if (!match(rest, /\/\*|\/\/|"|'/)) {
            c_code = c_code rest
            return
        }
        mark = substr(rest, RSTART, RLENGTH)
        c_code = c_code substr(rest, 1, RSTART - 1)
        rest = substr(rest, RSTART + RLENGTH)
        if (mark == "//") {
            c_text = c_text " " rest
            return
        }
        if (mark == "/*") {
            c_inside = 1
            continue
        }
        for (i = 1; i <= length(rest); i++) {   # to the closing quote
            ch = substr(rest, i, 1)
            if (ch == "\\")
                i++
            else if (ch == mark)
                break
        }
        c_code = c_code mark mark
        rest = substr(rest, i + 1)
    }
}
