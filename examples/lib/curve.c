/* curve: loss.png from loss.tsv, by gnuplot. The script is also written to the folder as loss.gp, for the
 * user; nothing in it comes from the user. */
#include "curve.h"
#include "files.h"
#include "gnuplot.h"

static const char script[] =
    "# The loss curve of this run: in this folder, gnuplot loss.gp draws loss.png.\n"
    "reset\n"
    "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) \\\n"
    "    set terminal pngcairo noenhanced size 1000,600 font 'sans,13'; \\\n"
    "else \\\n"
    "    set terminal png noenhanced size 1000,600\n"
    "if (!exists('piped')) set output 'loss.png'\n"
    "set datafile separator \"\\t\"\n"
    "set xlabel 'training step'\n"
    "set ylabel 'loss (nats per token)'\n"
    "bits = %.9g\n"                     /* bits per byte for one nat per token */
    "set y2label 'bits per byte'\n"
    "set grid lc rgb '#d8d8d8' lt 1 lw 1\n"
    "set border 11 lc rgb '#606060'\n"
    "set tics nomirror\n"
    "set link y2 via bits * y inverse y / bits\n"
    "set tmargin 4\n"                   /* the key is above the axes: inside, it would cut the grid */
    "set key above center horizontal Left reverse maxrows 1 samplen 3 width -2 spacing 1.4 \\\n"
    "    title 'Cross-entropy of the next token'\n"
    "set autoscale xfixmax\n"
    "set offsets 0, 0, graph 0.03, graph 0.02\n"
    "\n"
    "# The training loss jumps from batch to batch: over it, its running mean m over about n steps.\n"
    "stats 'loss.tsv' every ::1 using 1:2 nooutput\n"
    "span = bits * (STATS_max_y - STATS_min_y)\n"
    "tics = span > 5 ? 1.0 : span > 1 ? 0.5 : 0.1\n"           /* else y2 would have y's tics */
    "set y2tics tics\n"
    "n = STATS_records > 5000 ? 50.0 : STATS_records > 400 ? STATS_records / 100.0 : 4.0\n"
    "m = 0.0; w = 0.0\n"
    "mean(y) = (m = m + (y - m) / n, w = w + (1 - w) / n, m / w)\n"
    "\n"
    "plot 'loss.tsv' every ::1 using 1:2 with lines lw 1 lc rgb '#a9c9e8' title 'training, each step', \\\n"
    "     '' every ::1 using 1:(mean($2)) with lines lw 2.5 lc rgb '#2060a0' \\\n"
    "         title 'training, running mean', \\\n"
    "     '' every ::1 using 1:3 with linespoints lw 2 pt 7 ps 1.1 lc rgb '#e06020' title 'validation'\n"
    "set output\n";

int curve_begin(const char *folder, double bits)
{
    char path[FILE_PATH], text[sizeof script + 32];
    const int n = snprintf(text, sizeof text, script, bits);
    return file_write(file_path(path, folder, "loss.gp"), text, (size_t)n);
}

const char *curve_draw(const char *folder, double bits)
{
    char path[FILE_PATH];
    FILE *f = tmpfile();
    if (f) {
        fputs("piped = 1\n", f);
        fprintf(f, script, bits);
    }
    return gnuplot_draw(f, folder, file_path(path, folder, "loss.png"));
}
