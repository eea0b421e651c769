/* sums.h - SHA-256 by OpenSSL, which uses what the processor has for it
 *
 * The program that holds the keys has OpenSSL anyway; the others compute little. */
#pragma once

#include "lib/sum.h"

/* Makes it the engine of lib/sum.h, if OpenSSL has it. Once, at start. */
void sums_start(void);
