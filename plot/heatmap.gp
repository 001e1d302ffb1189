# One panel of a map: a box for each cell, darker where the router burned more, with the value in it.
# Expects: data (x, y, value, text), low and high (the values for the lightest and the darkest colour), margins, tics set.

unset colorbox
unset grid
set border 0
set tics scale 0
set palette defined (0 '#f2f6fa', 0.35 '#a6c8e4', 0.7 '#3b82bd', 1 '#08416f')
set cbrange [low:high]
set style fill solid noborder
ink(value) = (value - low) / (high - low) < 0.55 ? 0x222222 : 0xffffff
plot data using 1:2:($1 - 0.49):($1 + 0.49):($2 - 0.47):($2 + 0.47):3 with boxxyerror linecolor palette notitle, \
     data using 1:2:4:(ink($3)) with labels textcolor rgb variable notitle
