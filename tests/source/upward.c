// SPDX-License-Identifier: Apache-2.0
/* A stage that includes from one above it: it must not compile. */
#include "process/process.h"

#include "loop/engine.h"
