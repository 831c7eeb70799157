/* Writes a graph whose tensor names have any bytes:  names GRAPH.dot */
#include "layers/layers.h"
int main(int n, char **path)
{
    static const char *const name[] = { "\"];}\\N|{<>}&", "</script><script>", "a\nb\tc\033[2J",
                                        "\xff\xc0\x80",
                                        "back\\slash\\n", "\xc3\xa9t\xc3\xa9", "", "\xef\xbf\xbf" };
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, NULL);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_scalar(t, 1.0 / 0.0);
    for (int i = 0; i < 8; i++) {
        gra_scope s = gra_enter(gra_enter(gra_root(m), "%s", name[i]), "layer%d", i);
        x = gra_name(gra_mul(t, x, gra_param(s, "w", gra_init_ones(), GRA_SCALAR)), "%s", name[i]);
    }
    (void)n;
    return gra_write_dot(t, path[1]) ? 1 : 0;
}
