/* warn: lib/message.h for a page, which has no terminal: the sentence is kept, for run_why. */
#include "../lib/message.h"
#include "export.h"
#include "page_run.h"
#include <stdarg.h>
#include <stdio.h>

const char *program_name = "page";
static char sentence[1024];

int warn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return -1;
}

PAGE_EXPORT(run_why) char *page_why(void)
{
    return sentence;
}

void say(const char *format, ...)
{
    (void)format;
}

bool say_failed(void)
{
    return false;
}
