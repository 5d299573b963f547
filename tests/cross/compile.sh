#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Compiles for another architecture what depends on it, and what can be without its libraries: the
# wire format, the agent, the collector's stages up to the unwinder and its tests. Warnings are
# errors. The probes' notes are checked as well.
#
#   compile.sh COMPILER SOURCES JVMTI_INCLUDE JNI_MD_INCLUDE
#
# Leaves nothing behind. 77, skipped: there is no such compiler.
set -euo pipefail
compiler=$1 sources=$2 jvmti=$3 jni_md=$4

if [[ ! -x $compiler ]]; then
	echo "skipped: no compiler for aarch64; install it: apt-get install gcc-aarch64-linux-gnu libc6-dev-arm64-cross"
	exit 77
fi

# Headers of libraries are the same on every architecture; those of the C library are not, and must
# not come from this machine.
place=$(mktemp -d "${TMPDIR:-/tmp}/fgcollect-cross.XXXXXX")
trap 'rm -rf "$place"' EXIT
mkdir "$place/lib" "$place/agent"
for header in libelf.h gelf.h elfutils libdw.h dwarf.h cmocka.h; do
	[[ ! -e /usr/include/$header ]] || ln -s "/usr/include/$header" "$place/lib/$header"
done
ln -s "$sources/jvmti-agent" "$place/agent/agent"

flags=(-std=c17 -c -o /dev/null -Werror -Wall -Wextra -Wshadow -Wvla -Wstrict-prototypes
	-Wmissing-prototypes -Wundef -I"$sources")
collector=(-D_GNU_SOURCE -I"$sources/collector" -isystem "$place/lib")
agent=(-D_GNU_SOURCE -I"$sources/jvmti-agent" '-DFGAGENT_VERSION="0"' -isystem "$jvmti" -isystem "$jni_md"
	-include "$sources/jvmti-agent/glibc_compat.h")
failed=0 count=0

# compile FILE [FLAG...]
compile() {
	local file=$1
	shift
	count=$((count + 1))
	"$compiler" "${flags[@]}" "$@" "$file" || {
		echo "does not compile for aarch64: ${file#"$sources/"}"
		failed=$((failed + 1))
	}
}

for file in "$sources"/shared/*.c; do
	compile "$file" -D_POSIX_C_SOURCE=200809L
done
for stage in base intake sample memory code maps container process elf files unwind; do
	for file in "$sources/collector/$stage"/*.c; do
		compile "$file" "${collector[@]}"
	done
done
for file in "$sources"/tests/unit/{common,sample,unwind}/*.c "$sources"/tests/fuzz/fuzz_*.c; do
	compile "$file" "${collector[@]}" -I"$sources/tests/unit" -Wno-unused-parameter \
		"-DFG_SOURCE_DIR=\"$sources\"" "-DFG_TARGET=\"\""
done
for file in "$sources"/jvmti-agent/{,*/}*.c; do
	compile "$file" "${agent[@]}"
done

# The points of probes need no library, so they can be linked, and their notes checked.
"$compiler" -std=c17 -O2 -fPIC -shared -nostdlib -Wl,-z,relro -I"$sources/jvmti-agent" \
	-o "$place/points.so" "$sources/jvmti-agent/probes/points.c" &&
	python3 -B "$sources/tests/agent/check_notes.py" "$place/points.so" || failed=$((failed + 1))
echo "$((count - failed)) of $count files compile"
((failed == 0))
