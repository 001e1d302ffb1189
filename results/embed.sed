# Turns a text file into a C string literal, line by line.
s/\\/\\\\/g
s/"/\\"/g
s/^/"/
s/$/\\n"/
