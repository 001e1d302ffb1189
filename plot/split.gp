# One panel of stacked bars: a block of the data for each part, each line x, y, and the edges of one box.
# Expects: data, part_count, margins, tics and labels set before.

set style fill solid noborder
plot for [i=1:part_count] data index i - 1 using 1:2:3:4:5:6 with boxxyerror linecolor rgb word(part_colours, i) notitle, \
     0 with lines linetype 1 linewidth 1.2 linecolor rgb '#555555' notitle
