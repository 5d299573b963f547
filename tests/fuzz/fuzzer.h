// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bytes -> whatever the fuzzed code does with them
 * units:   bytes
 * threads: one
 * errors:  a crash or a sanitizer's report; the return value is 0
 * source:  libFuzzer
 */
#ifndef FG_TESTS_FUZZER_H
#define FG_TESTS_FUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
