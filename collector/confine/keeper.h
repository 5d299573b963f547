// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   a program that was just started -> the keeper, its zygotes, and their parsers
 * units:   none
 * threads: one
 * errors:  told to the collector, in the greeting
 * source:  zygote_wire.h
 */
#ifndef FG_CONFINE_KEEPER_H
#define FG_CONFINE_KEEPER_H

#include "confine/parser_role.h"

/* The process has both sockets, ZYGOTE_FD and KEEPER_FD. roles NULL: no parser is ever started. */
_Noreturn void keeper_run(const struct parser_limits *roles);

#endif
