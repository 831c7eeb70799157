/* export: PAGE_EXPORT(name) before a function makes it callable from the page. */
#ifndef EXAMPLES_PAGE_EXPORT_H
#define EXAMPLES_PAGE_EXPORT_H

#ifdef __wasm__
#define PAGE_EXPORT(name) __attribute__((export_name(#name), visibility("default")))
#else
#define PAGE_EXPORT(name)
#endif

#endif
