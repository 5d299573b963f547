// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   bindings of libc functions to the versions that glibc 2.17 already had
 * units:   none
 * threads: none
 * errors:  none; tests/agent/check_elf.py fails when a newer version creeps in
 * source:  gas(1) .symver; glibc moved these into libc.so.6 in 2.32 to 2.34
 *
 * Included before everything else in every file of the module, and in nothing but the module. The
 * old versions are still exported by new glibc, in older ones libpthread.so.0 has them, which every
 * JVM has loaded. musl has no symbol versions and ignores these.
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
