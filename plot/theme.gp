# How the pictures look: quiet axes, colours that colour-blind readers can tell apart (Okabe & Ito 2008), and a marker of
# its own for each series, so that the picture also works in black and white.
# Expects: plain (1: text terminal), marker (size of the markers, on which terminals do not agree).

set encoding utf8
set decimalsign '.'
if (!plain) { set minussign }
unset key
set tics nomirror
set border 3
if (!plain) {
    set border 3 linewidth 1.2 linecolor rgb '#555555'
    set tics out scale 0.6 textcolor rgb '#333333'
    set grid ytics linetype 1 linewidth 0.8 linecolor rgb '#e6e6e6'
    set grid back
}

array colour[9]
colour[1] = '#0072b2'
colour[2] = '#d55e00'
colour[3] = '#009e73'
colour[4] = '#cc79a7'
colour[5] = '#e69f00'
colour[6] = '#56b4e9'
colour[7] = '#000000'
colour[8] = '#8c6d31'
colour[9] = '#bbbbbb'
do for [i=1:9] {
    set style line i linecolor rgb colour[i] linewidth 2.6 pointtype (word('7 5 9 13 11 15 7 5 0', i) + 0) pointsize marker
    set style line 10 + i linecolor rgb colour[i] linewidth 2.6 pointtype (word('6 4 8 12 10 14 6 4 0', i) + 0) pointsize 1.1 * marker
}

set style line 9 linewidth 1
if (plain) {
    set tics scale 0
    set errorbars small
    do for [i=1:9] {
        set style line i linetype i pointtype i
        set style line 10 + i linetype i pointtype i
    }
}

# Reference lines: one worker, and variants without workers.
set style line 21 linecolor rgb '#777777' linewidth 1.6 dashtype 2
set style line 22 linecolor rgb '#777777' linewidth 1.6 dashtype 3

# Parts of the CPU split, in the order of the columns: useful work blue, burning warm, waiting grey.
part_colours = '#0072b2 #009e73 #d55e00 #e69f00 #cc79a7 #8c8c8c #56b4e9 #dddddd'
