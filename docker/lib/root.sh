# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Roots of images, laid out in a directory of what the machine has. To be sourced; who does sets
# $root to the directory.

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# new_root: makes the directory, which goes when the script ends.
new_root() {
	root=$(mktemp -d "${TMPDIR:-/tmp}/fgcollect-image.XXXXXX")
	trap 'rm -rf "$root"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	chmod 0755 "$root"
	umask 022
}

# What a server's JVM has no use for, by the names of both Debian's JDKs and Temurin's.
desktop='lib(awt|fontmanager|freetype|harfbuzz|javajpeg|jawt|jsound|lcms|mlib_image|splashscreen|atk-wrapper|j2pcsc)'

# copy_java HOME TO TOOL...: a JDK without its sources, its compiler's data and its desktop, and
# with these tools alone. Links are followed: Debian's JDK has its configuration in /etc.
copy_java() {
	local home=$1 to=$root$2 file
	mkdir -p "$to/bin" "$to/lib/server"
	shift 2
	for file in "$@"; do
		cp -L "$home/bin/$file" "$to/bin/"
	done
	cp -rL "$home/conf" "$home/release" "$to/"
	for file in "$home"/lib/*; do
		case ${file##*/} in
		src.zip | ct.sym | server) continue ;;
		esac
		[[ ${file##*/} =~ ^$desktop ]] || [[ ! -e $file ]] || cp -rL "$file" "$to/lib/"
	done
	cp -L "$home/lib/server/libjvm.so" "$to/lib/server/"
	[[ ! -e $home/lib/server/classes.jsa ]] ||
		cp -L "$home/lib/server/classes.jsa" "$to/lib/server/"
}

# lazy_libraries FILE...: where the libraries are that these load once they need them, by their notes.
lazy_libraries() {
	local known='' name
	{ readelf --wide --string-dump=.note.dlopen "$@" 2>/dev/null || true; } |
		sed -n 's/.*"soname":\["\([^"]*\)"\].*/\1/p' | sort -u | while read -r name; do
		known=${known:-$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p)}
		awk -v name="$name" '$1 == name && !n++ { print $NF } END { exit !n }' <<<"$known" ||
			die "$name is missing, which the program loads"
	done
}

# copy_libraries FILE...: every library that these are linked with or load, and that does not lie
# below $root already, and the dynamic loader, to where they are on this machine.
copy_libraries() {
	local file lazy
	lazy=$(lazy_libraries "$@")
	for file in "$@" $lazy; do
		ldd "$file" 2>/dev/null || true
	done |
		awk '
			$2 == "=>" && $3 ~ /^\// { print $3 }
			$1 ~ /^\/.*ld-/ && $2 !~ /=>/ { print $1 }' |
		cat - <(printf '%s' "${lazy:+$lazy$'\n'}") | sort -u | while read -r file; do
		[[ $file == "$root"/* || -e $root$file ]] || cp -L --parents "$file" "$root"
	done
}

# copy_java_libraries TO: those of a JDK that copy_java has laid out there.
copy_java_libraries() {
	local files
	mapfile -t files < <(find "$root$1" -type f \( -name '*.so' -o -path '*/bin/*' \))
	copy_libraries "${files[@]}"
}

# copy_users NAME ID HOME: root and one that exists nowhere else.
copy_users() {
	mkdir -p "$root"/{etc,proc,sys,dev,tmp}
	chmod 1777 "$root/tmp"
	printf '%s\n' 'root:x:0:0:root:/:/none' "$1:x:$2:$2:$1:$3:/none" >"$root/etc/passwd"
	printf '%s\n' 'root:x:0:' "$1:x:$2:" >"$root/etc/group"
}

# same_times: every file gets the time SOURCE_DATE_EPOCH, or 1970, so that what is made of the same
# files is the same bytes.
same_times() {
	find "$root" -exec touch --no-dereference --date="@${SOURCE_DATE_EPOCH:-0}" {} +
}

# tar_root DIR: as a tar that is the same whenever the files are.
tar_root() {
	tar -C "$1" --sort=name --owner=0 --group=0 --numeric-owner -c .
}

# import_root TAG INSTRUCTION...: $root becomes an image of one layer.
import_root() {
	local tag=$1 instruction changes=()
	shift
	for instruction in "$@"; do
		changes+=(--change "$instruction")
	done
	same_times
	tar_root "$root" |
		docker import "${changes[@]}" - "$tag" >/dev/null || die "docker import $tag failed"
}
