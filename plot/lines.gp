# One panel of lines with intervals, markers and reference lines.
# Expects: data, series_count, series_style[], line_count (0: markers only), series_bar (line width of the intervals),
# reference_count, reference_value[], margins, tics and labels set before.

plot for [i=1:reference_count] reference_value[i] with lines linestyle (i == 1 ? 21 : 22) notitle, \
     for [i=1:line_count] data index i - 1 using 1:2 with lines linestyle series_style[i] notitle, \
     for [i=1:series_count] data index i - 1 using 1:($3 < $4 ? $2 : NaN):3:4 with yerrorbars linestyle series_style[i] \
         linewidth series_bar pointsize 0 notitle, \
     for [i=1:series_count] data index i - 1 using 1:2 with points linestyle series_style[i] notitle
