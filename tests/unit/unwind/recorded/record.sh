#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs Frames in a JVM for aarch64, under qemu, with our agent and the recorder; see README.md.
#
#   record.sh BUILD ROOT JAVA DIRECTORY [FLAG...]
#
# BUILD: of this repository, on this machine; ROOT: libc, libstdc++, libgcc and zlib for aarch64;
# JAVA: the program, for aarch64; DIRECTORY is made. FLAGs are the JVM's. From the environment:
# FG_RECORD_SECONDS, 8 unless given; FG_RECORD_AGENT, our agent's options; FG_RECORD_QEMU, options
# of qemu: with -singlestep a thread may be stopped at any instruction, else only where a jump led.
set -euo pipefail
build=$1 root=$2 java=$3 directory=$4
shift 4
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../../../.." && pwd)
jdk=$(dirname "$(dirname "$(readlink -f "$(command -v javac)")")")
read -ra qemu <<<"${FG_RECORD_QEMU:--cpu max}"
flags=(-std=c17 -D_GNU_SOURCE -O2 -fPIC -shared -isystem "$jdk/include" -isystem "$jdk/include/linux")

mkdir -p "$directory"
javac --release 11 -d "$directory" "$here/Frames.java"
# Return addresses of the recorder's own functions are signed.
aarch64-linux-gnu-gcc "${flags[@]}" -mbranch-protection=pac-ret+leaf -funwind-tables \
	-o "$directory/librecorder.so" "$here/recorder.c"
aarch64-linux-gnu-gcc "${flags[@]}" '-DFGAGENT_VERSION="0"' -I"$source" \
	-I"$build/include/wire" -I"$build/include/agent" \
	-include "$source/jvmti-agent/glibc_compat.h" \
	-Wl,--version-script="$source/jvmti-agent/exports.map" -o "$directory/libfgagent.so" \
	"$source"/jvmti-agent/{,*/}*.c -I"$source/jvmti-agent" "$source"/shared/wire_encode*.c

"$build/tests/agent/agent_listener" "$directory/agent.sock" >"$directory/events" &
listener=$!
trap 'kill "$listener"; rm -f "$directory/agent.sock"' EXIT
until [[ -S $directory/agent.sock ]]; do sleep 0.1; done
qemu-aarch64-static "${qemu[@]}" -L "$root" "$java" \
	"-agentpath:$directory/libfgagent.so=socket=$directory/agent.sock${FG_RECORD_AGENT:+,$FG_RECORD_AGENT}" \
	"-agentpath:$directory/librecorder.so=$directory" -XX:+UseSerialGC -Xmx128m \
	-XX:ReservedCodeCacheSize=24m -XX:+UnlockDiagnosticVMOptions -XX:+DebugNonSafepoints "$@" \
	-cp "$directory" Frames "$directory/librecorder.so" "${FG_RECORD_SECONDS:-8}"
sleep 0.5
