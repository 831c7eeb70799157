/* A page of a step whose names and numbers would break a page:  hostile [EMPTY.html] PAGE.html
 * EMPTY.html is the page of a tape without nodes. */
#include "examples/look/look.h"
#include "core/op.h"
static void forward(gra_tensor *y) { y->data[0] = y->in[0]->data[0]; }
static void backward(gra_tensor *y) { if (y->in[0]->grad) y->in[0]->grad[0] += y->grad[0]; }
int main(int argc, char **argv)
{
    static const char *const name[] = {
        "</script><script>document.title = 'owned'</script>", "<!--<script>", "\"'\\`${1}&amp;", "__proto__",
        "\x01\x02\x1b[31m\x7f\r\n\t", "\xff\xfe\xc0\x80\xed\xa0\x80\xf4\x90\x80\x80 \xe2\x82",
        "<img src=x onerror=alert(1)>", "\xe2\x80\xae\xe2\x81\xa7 turned \xd8\x9c" };
    static char longest[10001];
    static const gra_op op = { .name = "<b>own</b>\"op", .forward = forward, .backward = backward };
    gra_real value[4] = { (gra_real)NAN, (gra_real)INFINITY, -(gra_real)INFINITY, (gra_real)-0.0 };
    memset(longest, '<', sizeof longest - 1);
    gra_tape *t = gra_open(1);
    gra_keep_grads(t, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_name(gra_input(t, value, GRA_SHAPE(4)), "%s", longest),
               *none = gra_zeros(t, GRA_SHAPE(0, 3));
    gra_tensor *y = gra_add(t, gra_sum(t, x), gra_sum(t, none));
    for (size_t i = 0; i < sizeof name / sizeof *name; i++)
        y = gra_name(gra_scale(t, y, 1), "%s", name[i]);
    y = gra_run(gra_result(t, &op, GRA_SCALAR, y));
    gra_backward(t, y);
    int failed = look_write(t, argv[argc - 1]);
    gra_begin(t, GRA_GRAD, NULL);
    failed |= argc > 2 && look_write(t, argv[1]);
    if (failed)
        perror("hostile");
    gra_close(t);
    return failed ? 1 : 0;
}
