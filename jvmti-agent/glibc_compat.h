// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bindings of libc functions to versions that glibc 2.17 already had
 * units:   none
 * threads: none
 * errors:  none; tests/agent/check_elf.py fails if a newer version is needed
 * source:  gas(1) .symver; glibc moved these functions into libc.so.6 in 2.32 to 2.34
 *
 * Every file of the agent includes this header first, and no file of another program does. New
 * glibc still exports the old versions. Before 2.32 to 2.34 they are in libpthread.so.0, which
 * every JVM has loaded. musl has no symbol versions and ignores the bindings.
 */
#ifndef FGAGENT_GLIBC_COMPAT_H
#define FGAGENT_GLIBC_COMPAT_H

#if defined(__x86_64__)
#define FGAGENT_OLD_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define FGAGENT_OLD_VERSION "GLIBC_2.17"
#endif

#ifdef FGAGENT_OLD_VERSION
#define FGAGENT_BIND(name) __asm__(".symver " #name "," #name "@" FGAGENT_OLD_VERSION)
FGAGENT_BIND(pthread_create);
FGAGENT_BIND(pthread_sigmask);
FGAGENT_BIND(pthread_attr_setstacksize);
#endif

#endif
