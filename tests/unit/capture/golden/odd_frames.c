// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose time is in frames that no unwinder can leave, one kind for each argument; for
 * x86_64. "no rule": no unwind table, and no frame pointer. "bad return": a frame pointer that
 * leads to a return address at which there is no code. "no progress": a frame pointer whose
 * caller's frame lies below its own. Two words on top of the stack are no addresses of code, so
 * that the function is not taken for one without a frame.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#define ROUNDS "$20000000"

void no_rule(void);
void bad_return(void);
void no_progress(void);

__asm__(".text\n"
	".type no_rule, @function\n"
	"no_rule:\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	push $1\n	push $2\n	push $3\n"
	"	mov " ROUNDS ", %ecx\n"
	"1:	dec %ecx\n	jnz 1b\n"
	"	add $24, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size no_rule, . - no_rule\n"
	".type bad_return, @function\n"
	"bad_return:\n"
	"	push %rbp\n"
	"	push $0x1234\n"
	"	lea 64(%rsp), %rcx\n"
	"	push %rcx\n"
	"	mov %rsp, %rbp\n"
	"	push $1\n	push $2\n	push $3\n"
	"	mov " ROUNDS ", %ecx\n"
	"1:	dec %ecx\n	jnz 1b\n"
	"	add $40, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size bad_return, . - bad_return\n"
	".type no_progress, @function\n"
	"no_progress:\n"
	"	mov (%rsp), %rax\n"
	"	push %rbp\n"
	"	push %rax\n"
	"	lea -24(%rsp), %rcx\n"
	"	push %rcx\n"
	"	mov %rsp, %rbp\n"
	"	push $1\n	push $2\n	push $3\n"
	"	mov " ROUNDS ", %ecx\n"
	"1:	dec %ecx\n	jnz 1b\n"
	"	add $40, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size no_progress, . - no_progress\n");

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + 60;
	void (*odd)(void) = no_rule;

	if (argc > 1 && strcmp(argv[1], "bad return") == 0)
		odd = bad_return;
	else if (argc > 1 && strcmp(argv[1], "no progress") == 0)
		odd = no_progress;
	while (time(NULL) < end)
		odd();
	return 0;
}
