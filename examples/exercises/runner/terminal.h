/* terminal: keys as they are pressed, and a screen that is drawn as a whole, by ANSI escape sequences. */
#ifndef RUNNER_TERMINAL_H
#define RUNNER_TERMINAL_H

#include "screen_text.h"
#include <stdbool.h>

/* Keys that are not characters. */
enum { KEY_NONE, KEY_INTERRUPT = 3, KEY_BACKSPACE = 127, KEY_SUSPEND = 26, KEY_ENTER = '\r', KEY_ESCAPE = 27,
       KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_OTHER };

int  terminal_begin(void);              /* 0; -1: this is not a terminal */
void terminal_end(void);                /* restores the terminal; also called at exit */
void terminal_suspend(void);            /* stops the process as Ctrl-Z does, and returns when it continues */
void terminal_size(int *rows, int *columns);
bool terminal_pressed(void);            /* whether a key is waiting */
int  terminal_key(int milliseconds);    /* the next key; KEY_NONE: none came */

/* Draws a screen: these lines from the top, the rest empty. */
void terminal_draw(const struct page_line *line, int n, int rows, int columns);

#endif
