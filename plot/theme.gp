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

# Strands, where the model and real runtimes share a panel: the colour is the spin limit (10: none), 100 times the strand
# the dashes and the marker. Real ones are solid and filled, models dashed and open. From 81 on: a colour by itself; 80:
# nothing.
set dashtype 11 (10, 5)
set dashtype 12 (3, 4)
set dashtype 13 (8, 3, 2, 3)
set dashtype 14 (12, 5)
set dashtype 15 (8, 3, 2, 3, 2, 3)
set dashtype 16 (14, 3, 4, 3)
set style line 80 linecolor rgb '#ffffff' linewidth 0.1 pointtype 0
colour_of(i) = i < 10 ? colour[i] : '#444444'
do for [i=1:10] {
    set style line 80 + i linecolor rgb colour_of(i) linewidth 7 pointtype 0
    do for [s=1:6] {
        set style line 100 * s + i linecolor rgb colour_of(i) linewidth 2.6 pointtype (word('7 5 9 13 11 15', s) + 0) \
            pointsize marker
        set style line 600 + 100 * s + i linecolor rgb colour_of(i) linewidth 2.2 dashtype 10 + s \
            pointtype (word('4 8 12 10 14 6', s) + 0) pointsize 1.1 * marker
    }
}

# Reference lines: one worker, and variants without workers; in fidelity, the ratio 1.
set style line 21 linecolor rgb '#777777' linewidth 1.6 dashtype 2
set style line 22 linecolor rgb '#777777' linewidth 1.6 dashtype 3
set style line 23 linecolor rgb '#999999' linewidth 1.6

# Parts of the CPU split, in the order of the columns: useful work blue, burning warm, waiting grey.
part_colours = '#0072b2 #009e73 #d55e00 #e69f00 #cc79a7 #8c8c8c #56b4e9 #dddddd'
