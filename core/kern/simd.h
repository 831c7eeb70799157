/* simd.h: vector operations that differ between gcc and clang, and macros that compile a file of kernels for
 * an instruction set that the rest of the library does not use.
 *
 *     #include "gemm.h"                shared with other files: compiled for any processor
 *     AVX2_BEGIN
 *     #include "gemm_tile.h"           compiled for AVX2: must define nothing that other files may link to
 *     SIMD_END
 *
 * So the kernels need no flags, and any build that compiles core/kern/ has all kernels. */
#ifndef GRADUS_SIMD_H
#define GRADUS_SIMD_H

#include "../op.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMD_X86 1
#include <immintrin.h>
#else
#define SIMD_X86 0
#endif

/* Does the compiler know the instructions of AVX512_BF16? (gcc from version 10, clang from 9) */
#if SIMD_X86 && !defined(GRADUS_DOUBLE) && defined(__has_include)
#if __has_include(<avx512bf16intrin.h>)
#define SIMD_BF16 1
#endif
#endif
#ifndef SIMD_BF16
#define SIMD_BF16 0
#endif

#ifdef __clang__
#define AVX2_BEGIN                                                                                      \
    _Pragma("clang attribute push (__attribute__((target(\"avx2,fma\"))), apply_to = function)")
#define AVX512_BEGIN _Pragma("clang attribute push (__attribute__((target(\
\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl\"))), apply_to = function)")
#define BF16_BEGIN   _Pragma("clang attribute push (__attribute__((target(\
\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16\"))), apply_to = function)")
#define SIMD_END     _Pragma("clang attribute pop")
#else
#define AVX2_BEGIN   _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,fma\")")
#define AVX512_BEGIN _Pragma("GCC push_options") \
                     _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl\")")
#define BF16_BEGIN   _Pragma("GCC push_options") \
                     _Pragma("GCC target(\"avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512bf16\")")
#define SIMD_END     _Pragma("GCC pop_options")
#endif

/* A vector of the values at these places in a and b, two vectors of the same type; places are counted through
 * a, then b. The includer defines `places`, the vector of real_place of that size. (gcc has clang's built-in
 * function only from version 12 on.) */
#ifdef GRADUS_DOUBLE
typedef int64_t real_place;
#else
typedef int32_t real_place;
#endif
#ifdef __clang__
#define SHUFFLE __builtin_shufflevector
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (places){ __VA_ARGS__ })
#endif

/* Joins two vectors of 16 bytes by an intrinsic. For a plain shuffle of values in memory, compilers emit a
 * load and a shuffle. */
#ifdef GRADUS_DOUBLE
#define JOIN(a, b) _mm256_insertf128_pd(_mm256_castpd128_pd256(a), b, 1)
#else
#define JOIN(a, b) _mm256_insertf128_ps(_mm256_castps128_ps256(a), b, 1)
#endif

#endif
