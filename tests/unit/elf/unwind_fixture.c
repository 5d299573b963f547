// SPDX-License-Identifier: Apache-2.0
/* Frames without frame pointers, realigned, of a size known at run time only, and of a signal. */
#include <alloca.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>

int fixture_use(void *what, size_t len); /* nobody has it: the library is only read */
int fixture_many(int a, int b, int c, int d);
int fixture_alloca(size_t len);
int fixture_aligned(int a);
int fixture_both(int a, size_t len);
int fixture_signal(int signo);
int fixture_early(const char *text);

int fixture_many(int a, int b, int c, int d)
{
	const int e = fixture_use(&a, 1), f = fixture_use(&b, 2), g = fixture_use(&c, 3);

	return e * f + g * fixture_use(&d, 4) + a + b + c + d;
}

int fixture_alloca(size_t len)
{
	char *p = alloca(len);

	memset(p, 1, len);
	return fixture_use(p, len);
}

int fixture_aligned(int a)
{
	_Alignas(64) char local[256];

	memset(local, a, sizeof(local));
	return fixture_use(local, sizeof(local)) + a;
}

int fixture_both(int a, size_t len)
{
	_Alignas(128) char local[128];
	char *p = alloca(len);

	memset(local, a, sizeof(local));
	return fixture_use(local, sizeof(local)) + fixture_use(p, len) + a;
}

#ifdef __x86_64__
/* A realigned frame whose CFA is read from the stack, as gcc has it, and clang does not. */
__asm__(".text\n"
	".globl fixture_realigned\n"
	".type fixture_realigned, @function\n"
	"fixture_realigned:\n"
	".cfi_startproc\n"
	"	leaq 8(%rsp), %r10\n"
	".cfi_def_cfa 10, 0\n"
	"	andq $-64, %rsp\n"
	"	pushq -8(%r10)\n"
	"	pushq %rbp\n"
	".cfi_escape 0x10, 6, 2, 0x76, 0\n" /* rbp: at rbp */
	"	movq %rsp, %rbp\n"
	"	pushq %r10\n"
	".cfi_escape 0x0f, 3, 0x76, 0x78, 6\n" /* CFA: what lies at rbp - 8 */
	"	subq $120, %rsp\n"
	"	addq $120, %rsp\n"
	"	popq %r10\n"
	".cfi_def_cfa 10, 0\n"
	"	popq %rbp\n"
	"	leaq -8(%r10), %rsp\n"
	".cfi_def_cfa 7, 8\n"
	"	ret\n"
	".cfi_endproc\n"
	".size fixture_realigned, . - fixture_realigned\n");
#endif

int fixture_early(const char *text)
{
	char buf[512];

	if (!text || !*text)
		return -1;
	strncpy(buf, text, sizeof(buf));
	return buf[0] == 'x' ? fixture_use(buf, 1) : fixture_many(1, 2, buf[3], 4);
}

static void on_signal(int signo)
{
	fixture_use(&signo, sizeof(signo));
}

int fixture_signal(int signo)
{
	const struct sigaction action = {.sa_handler = on_signal};

	return sigaction(signo, &action, NULL);
}
