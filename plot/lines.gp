# One panel of lines with intervals, markers and reference lines. Ranges are thinner than 95 % intervals.
# Expects: data, series_count, series_style[], line_count (0: markers only), reference_count, reference_value[],
# first_reference (style of the first one), margins, tics and labels set before.

bar(low, high, is_range, want) = low < high && is_range == want
plot for [i=1:reference_count] reference_value[i] with lines linestyle (i == 1 ? first_reference : 22) notitle, \
     for [i=1:line_count] data index i - 1 using 1:2 with lines linestyle series_style[i] notitle, \
     for [i=1:series_count] data index i - 1 using 1:(bar($3, $4, $5, 0) ? $2 : NaN):3:4 with yerrorbars \
         linestyle series_style[i] linewidth 2.2 dashtype 1 pointtype ' ' notitle, \
     for [i=1:series_count] data index i - 1 using 1:(bar($3, $4, $5, 1) ? $2 : NaN):3:4 with yerrorbars \
         linestyle series_style[i] linewidth 1 dashtype 1 pointtype ' ' notitle, \
     for [i=1:series_count] data index i - 1 using 1:2 with points linestyle series_style[i] notitle
