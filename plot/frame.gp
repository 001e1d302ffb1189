# What surrounds the panels: the labels set before (title and foot), and a key of what key_kind says.
# Expects: key_kind ('none', 'series', 'parts'), key_y (screen), key_rows, key_is_broken (1: column by column), series_count,
# series_style[], series_title[] or part_count, part_title[].

unset border
unset tics
unset grid
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 0.98
set bmargin at screen 0.02
set xrange [0:1]
set yrange [0:1]
if (key_kind eq 'none') {
    plot 2 notitle
} else {
    set key at screen 0.5, screen key_y center center horizontal Left reverse samplen 1.5 maxrows key_rows
    if (key_is_broken) { set key vertical }
    if (key_kind eq 'series') {
        plot 2 notitle, \
             for [i=1:series_count] keyentry with linespoints linestyle series_style[i] \
             title (plain ? ' ' : '').series_title[i]
    } else {
        plot 2 notitle, for [i=1:part_count] keyentry with boxes fillstyle solid noborder \
             linecolor rgb word(part_colours, i) title part_title[i]
    }
}
unset key
unset label
