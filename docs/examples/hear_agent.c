// SPDX-License-Identifier: Apache-2.0
/*
 * Hears an agent with libnng alone: a PULL socket is what an agent dials.
 *
 *   cc -o hear_agent hear_agent.c -lnng
 *   hear_agent ipc:///tmp/agent.sock &
 *   java -agentpath:/opt/fgcollect/libfgagent.so=socket=/tmp/agent.sock ...
 *
 * Prints the length of each message and its first four bytes. shared/README.md says what the
 * messages mean.
 */
#include <nng/nng.h>
#include <nng/protocol/pipeline0/pull.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	nng_socket socket;
	nng_msg *msg;

	if (argc < 2 || nng_pull0_open(&socket) || nng_listen(socket, argv[1], NULL, 0))
		return 1;
	while (nng_recvmsg(socket, &msg, 0) == 0) {
		printf("%zu bytes %.4s\n", nng_msg_len(msg), (const char *)nng_msg_body(msg));
		fflush(stdout);
		nng_msg_free(msg);
	}
	return 1;
}
