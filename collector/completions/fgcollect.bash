# bash completion for fgcollect                            -*- shell-script -*-
# SPDX-License-Identifier: Apache-2.0
#
# Commands, options of each, their values, and what a running daemon knows: PIDs, containers, pods.
# What comes from there was chosen by others: it is never evaluated, and only names without any
# character that is special to a shell are offered.
# shellcheck shell=bash

_fgcollect_choices() {
	local IFS=$' \t\n'
	# shellcheck disable=SC2207 # the words are ours
	COMPREPLY=($(compgen -W "$1" -- "$2"))
}

# Words with commas between them, of which the last one is being typed.
_fgcollect_list() {
	local begun='' last=$2 word
	if [[ $2 == *,* ]]; then
		begun=${2%,*}, last=${2##*,}
	fi
	compopt -o nospace
	for word in $1; do
		[[ $word != "$last"* ]] || COMPREPLY+=("$begun$word")
	done
}

# The daemon's list, if there is a daemon and this user may ask it: never waited for.
_fgcollect_list_json() {
	local socket=/run/fgcollect/agent.sock i
	for ((i = 1; i < COMP_CWORD; i++)); do
		[[ ${COMP_WORDS[i]} != --socket ]] || socket=${COMP_WORDS[i + 1]}
		[[ $socket != = ]] || socket=${COMP_WORDS[i + 2]}
	done
	[[ -w ${socket%/*}-control/${socket##*/} ]] || return 0
	timeout 2 "${COMP_WORDS[0]}" list --json --socket "$socket" 2>/dev/null </dev/null
}

# KEY CURRENT: values of that key of each JVM that begin so.
_fgcollect_running() {
	local value
	while read -r value; do
		[[ $value != "$2"* ]] || COMPREPLY+=("$value")
	done < <(_fgcollect_list_json |
		sed -n "s/^ *\"$1\": \"\\{0,1\\}\\([A-Za-z0-9_.\\/-]\\{1,\\}\\)\"\\{0,1\\},\\{0,1\\}\$/\\1/p" | sort -u)
}

_fgcollect_pids() {
	local value
	_fgcollect_running pid "$1"
	((${#COMPREPLY[@]} == 0)) || return 0
	while read -r value; do
		[[ $value != "$1"* ]] || COMPREPLY+=("$value")
	done < <(pgrep -x java)
}

# OPTION CURRENT COMMAND: completes the option's value, or is false if it has none.
_fgcollect_value() {
	local formats='svg html folded fgrec pb.gz speedscope.json firefox.json perf.txt'
	case $1 in
	-p | --pid)
		[[ $3 != render && $3 != diff ]] || return 1
		_fgcollect_pids "$2"
		;;
	--container) _fgcollect_running container_name "$2" ;;
	--pod) _fgcollect_running pod "$2" ;;
	-e | --event)
		_fgcollect_choices 'cycles instructions cache-misses branch-misses cpu-clock
			task-clock page-faults context-switches' "$2"
		;;
	--unwind) _fgcollect_choices 'full fp' "$2" ;;
	--virtual-threads) _fgcollect_choices 'carrier cut' "$2" ;;
	--stack-size) _fgcollect_choices '16k 32k 48k 64000' "$2" ;;
	--symbol-cache) _fgcollect_choices '128M 256M 512M 1G 2G' "$2" ;;
	--java-names) _fgcollect_choices 'slash dot simple signature' "$2" ;;
	--cxx-names) _fgcollect_choices 'plain simple full' "$2" ;;
	--map-names) _fgcollect_list 'dotted signatures sourcepos unfold unfoldall simple' "$2" ;;
	-o | --output)
		[[ $3 == watch ]] && mapfile -t COMPREPLY < <(compgen -d -- "$2")
		compopt -o default
		;;
	--socket) compopt -o default ;;
	--map-dir | --jitdump)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$2")
		;;
	-f | --format)
		[[ $3 == diff ]] && formats='svg html folded pb.gz'
		_fgcollect_choices "$formats" "$2"
		;;
	--period) _fgcollect_choices '60s 5m 10m 30m 1h' "$2" ;;
	--keep) _fgcollect_choices '1d 7d 30d' "$2" ;;
	--keep-bytes) _fgcollect_choices '512M 1G 2G 10G' "$2" ;;
	--http) _fgcollect_choices '9464' "$2" ;;
	--log-level) _fgcollect_choices 'error warning info debug' "$2" ;;
	--view) _fgcollect_choices 'methods threads jvms' "$2" ;;
	--sort) _fgcollect_choices 'self total name jvm' "$2" ;;
	-c | --colors)
		_fgcollect_choices 'java js perl rust python hot mem io wakeup chain red green
			blue aqua yellow purple orange' "$2"
		;;
	--bgcolors) _fgcollect_choices 'yellow blue green grey' "$2" ;;
	--width-of) _fgcollect_choices 'after before union' "$2" ;;
	--encoding) _fgcollect_choices 'UTF-8' "$2" ;;
	-d | --duration | -F | --frequency | --label | --comm | --jvm | --title | --window | \
		--filter | --rows | --subtitle | --notes | --width | --height | --minwidth | \
		--fonttype | --fontsize | --fontwidth | --countname | --nametype | --factor | \
		--total | --base | --skip-after | --event-filter | --nthreads) ;;
	--top) [[ $3 == diff ]] ;;
	*) return 1 ;;
	esac
}

# COMMAND: its options.
_fgcollect_options() {
	local targets='--container --pod --label --comm --jvm' places='--socket --map-dir --map-names'
	local sampled="-p --pid -a --all $targets -e --event -F --frequency --unwind
		--virtual-threads --stack-size --symbol-cache --java-names --cxx-names --lines
		--native-lines --raw-names $places --jitdump"
	local drawn='-o --output -f --format --no-normalize -n --normalize --width-of --split-kinds --split-levels
		--java-only --fold-frameworks --thread-starts
		-s --strip-hex --negate --title --subtitle --notes --width --height --minwidth
		--fonttype --fontsize --fontwidth -c --colors --bgcolors --countname --nametype
		--factor --total --random -i --inverted --reverse --base --skip-after --pid --tid
		--kernel --jit --all --addrs --event-filter --samples --inline --hash
		--deterministic --no-sort --nthreads --encoding'
	case $1 in
	record)
		echo "$sampled -d --duration --until-eof --progress -o --output --format --threads
			--show-pid --split-levels --java-only --fold-frameworks --thread-starts
			--title"
		;;
	top) echo "$sampled -d --duration --window --view --sort --filter --rows --once --json" ;;
	list) echo "-p --pid $targets --json $places" ;;
	doctor) echo '--json --socket --map-dir --stack-size --unwind' ;;
	watch)
		echo "$sampled -o --output --threads --show-pid --format --period --keep --keep-bytes
			--http --log-level"
		;;
	render) echo "$drawn --cp" ;;
	diff) echo "$drawn --top --json" ;;
	esac
	echo '-v --verbose -h --help'
}

_fgcollect() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} command='' word
	COMPREPLY=()
	# --option=value comes as three words.
	if [[ $cur == = ]]; then
		cur=''
	elif [[ $prev == = ]] && ((COMP_CWORD > 2)); then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		case $word in
		record | top | list | doctor | watch | render | diff) command=$word ;;
		--watch) command=watch ;;
		*) continue ;;
		esac
		break
	done
	if [[ $prev == -* ]] && _fgcollect_value "$prev" "$cur" "$command"; then
		return 0
	elif [[ -z $command ]]; then
		_fgcollect_choices 'record top list doctor watch render diff --watch --version --help -h' "$cur"
	elif [[ $cur == -* ]]; then
		_fgcollect_choices "$(_fgcollect_options "$command")" "$cur"
	elif [[ $command == render || $command == diff ]]; then
		compopt -o default
	fi
}

complete -F _fgcollect fgcollect
