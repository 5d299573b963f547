# SPDX-License-Identifier: Apache-2.0
#
# fish completion for fgcollect: commands, options of each, their values, and what a running daemon
# knows: PIDs, containers, pods. What comes from there was chosen by others: it is never evaluated.

# The command of the line so far, or nothing.
function __fgcollect_command
    for word in (commandline -opc)[2..-1]
        switch $word
            case record top list doctor watch render diff
                echo $word
                return
            case --watch
                echo watch
                return
        end
    end
    return 1
end

function __fgcollect_none
    not __fgcollect_command >/dev/null
end

# COMMAND...: whether it is one of these.
function __fgcollect_is
    contains -- (__fgcollect_command) $argv
end

# The daemon's list, if there is a daemon and this user may ask it: never waited for.
function __fgcollect_list_json
    set -l words (commandline -opc)
    set -l socket /run/fgcollect/agent.sock
    if set -l at (contains -i -- --socket $words); and test $at -lt (count $words)
        set socket $words[(math $at + 1)]
    end
    set -l given (string match -r -- '^--socket=(.+)' $words)
    test (count $given) -eq 2; and set socket $given[2]
    set -l control (string replace -r '/([^/]*)$' -- '-control/$1' $socket)
    test -w "$control"; or return
    timeout 2 $words[1] list --json --socket $socket 2>/dev/null </dev/null
end

# KEY: values of that key of each JVM, as far as no character in them is special to a shell.
function __fgcollect_running
    __fgcollect_list_json | string replace -rf '^ *"'$argv[1]'": "?([A-Za-z0-9_./-]+)"?,?$' '$1' | sort -u
end

function __fgcollect_pids
    set -l pids (__fgcollect_running pid)
    test (count $pids) -gt 0; or set pids (pgrep -x java)
    printf '%s\n' $pids
end

complete -c fgcollect -f
complete -c fgcollect -n __fgcollect_none -a record -d 'record what runs, and draw it'
complete -c fgcollect -n __fgcollect_none -a top -d 'what runs right now, as a live table'
complete -c fgcollect -n __fgcollect_none -a list -d 'every JVM with the agent'
complete -c fgcollect -n __fgcollect_none -a doctor -d 'what is in the way of whole profiles'
complete -c fgcollect -n __fgcollect_none -a watch -d 'the daemon, as --watch'
complete -c fgcollect -n __fgcollect_none -a render -d 'draw what was recorded before'
complete -c fgcollect -n __fgcollect_none -a diff -d 'what changed between two recordings'
complete -c fgcollect -n __fgcollect_none -l watch -d 'the daemon'
complete -c fgcollect -n __fgcollect_none -l version -d 'say which fgcollect this is'
complete -c fgcollect -s h -l help -d 'say which options there are'
complete -c fgcollect -n 'not __fgcollect_none' -s v -l verbose -d 'say more'

# What is recorded, watched or listed.
set -l sampled '__fgcollect_is record top watch'
set -l named '__fgcollect_is record top list watch'
complete -c fgcollect -n $named -s p -l pid -x -a '(__fgcollect_pids)' -d 'this process'
complete -c fgcollect -n $sampled -s a -l all -d 'every process, Java or not'
complete -c fgcollect -n $named -l container -x -a '(__fgcollect_running container_name)' -d 'of that container'
complete -c fgcollect -n $named -l pod -x -a '(__fgcollect_running pod)' -d 'of that pod'
complete -c fgcollect -n $named -l label -x -d 'with that label'
complete -c fgcollect -n $named -l comm -x -d 'that the kernel calls so'
complete -c fgcollect -n $named -l jvm -x -d 'whose main class or jar fits'

# How.
complete -c fgcollect -n '__fgcollect_is record top' -s d -l duration -x -d 'seconds'
complete -c fgcollect -n '__fgcollect_is record' -l until-eof -d 'or until standard input ends'
complete -c fgcollect -n '__fgcollect_is record' -l progress -d 'a line a second on stderr'
complete -c fgcollect -n $sampled -s F -l frequency -x -d 'so often a second'
complete -c fgcollect -n $sampled -s e -l event -x -d 'at this event' \
    -a 'cycles instructions cache-misses branch-misses cpu-clock task-clock page-faults context-switches'
complete -c fgcollect -n '__fgcollect_is record top watch doctor' -l unwind -x -a 'full fp' -d 'how stacks are walked'
complete -c fgcollect -n $sampled -l virtual-threads -x -a 'carrier cut' -d 'with or without what is below them'
complete -c fgcollect -n '__fgcollect_is record top watch doctor' -l stack-size -x -a '16k 32k 48k 64000' -d 'of a snapshot'
complete -c fgcollect -n $sampled -l symbol-cache -x -a '128M 256M 512M 1G 2G' -d 'how much is kept of files'

# Into what.
complete -c fgcollect -n '__fgcollect_is record render diff' -s o -l output -r -F -d 'a file, whose suffix says the format'
complete -c fgcollect -n '__fgcollect_is watch' -s o -l output -x -a '(__fish_complete_directories)' -d 'where flame graphs are written'
complete -c fgcollect -n '__fgcollect_is record watch' -l threads -d 'a level for each thread'
complete -c fgcollect -n '__fgcollect_is record watch' -l show-pid -d 'PIDs in the lowest level'
complete -c fgcollect -n '__fgcollect_is record render diff' -l split-levels -d 'a method is a box for each way it ran'
complete -c fgcollect -n '__fgcollect_is record render diff' -l java-only -d 'all time is that of its Java method'
complete -c fgcollect -n '__fgcollect_is record render diff' -l fold-frameworks -d 'frames of frameworks are one box'
complete -c fgcollect -n '__fgcollect_is record render diff' -l thread-starts -d 'what Java threads begin with, in place of their pool'
complete -c fgcollect -n '__fgcollect_is record render diff' -l title -x -d 'of the drawing'
complete -c fgcollect -n $sampled -l java-names -x -a 'slash dot simple signature' -d 'how methods are called'
complete -c fgcollect -n $sampled -l cxx-names -x -a 'plain simple full' -d 'how functions of C++ and Rust are called'
complete -c fgcollect -n $sampled -l lines -d 'a frame for each source line'
complete -c fgcollect -n $sampled -l native-lines -d 'functions that were inlined into native code'
complete -c fgcollect -n $sampled -l raw-names -d 'keep what differs from run to run'

# Where things are.
complete -c fgcollect -n '__fgcollect_is record top list watch doctor' -l socket -r -F -d 'the agents\' socket'
complete -c fgcollect -n '__fgcollect_is record top list watch doctor' -l map-dir -x \
    -a '(__fish_complete_directories)' -d 'where maps for perf are'
complete -c fgcollect -n $named -l map-names -x -d 'how methods are called in maps' \
    -a '(__fish_append , dotted signatures sourcepos unfold unfoldall simple)'
complete -c fgcollect -n $sampled -l jitdump -x -a '(__fish_complete_directories)' -d 'write a jitdump there'

# top, list, doctor.
complete -c fgcollect -n '__fgcollect_is top list doctor diff' -l json -d 'for scripts'
complete -c fgcollect -n '__fgcollect_is top' -l window -x -d 'what the table is of'
complete -c fgcollect -n '__fgcollect_is top' -l view -x -a 'methods threads jvms' -d 'what rows are'
complete -c fgcollect -n '__fgcollect_is top' -l sort -x -a 'self total name jvm' -d 'by what'
complete -c fgcollect -n '__fgcollect_is top' -l filter -x -d 'names that match'
complete -c fgcollect -n '__fgcollect_is top' -l rows -x -d 'at most so many'
complete -c fgcollect -n '__fgcollect_is top' -l once -d 'one table'

# The daemon.
complete -c fgcollect -n '__fgcollect_is record watch' -l format -x -d 'of flame graphs' \
    -a 'html svg folded fgrec pb.gz speedscope.json firefox.json perf.txt'
complete -c fgcollect -n '__fgcollect_is watch' -l period -x -a '60s 5m 10m 30m 1h' -d 'of a graph'
complete -c fgcollect -n '__fgcollect_is watch' -l keep -x -a '1d 7d 30d' -d 'remove what is older'
complete -c fgcollect -n '__fgcollect_is watch' -l keep-bytes -x -a '512M 1G 2G 10G' -d 'remove what is more'
complete -c fgcollect -n '__fgcollect_is watch' -l http -x -a 9464 -d 'metrics for Prometheus'
complete -c fgcollect -n '__fgcollect_is watch' -l log-level -x -a 'error warning info debug' -d 'what is said'

# render and diff.
set -l drawn '__fgcollect_is render diff'
complete -c fgcollect -n $drawn -F
complete -c fgcollect -n '__fgcollect_is render' -s f -l format -x -d 'for standard output' \
    -a 'svg html folded fgrec pb.gz speedscope.json firefox.json perf.txt'
complete -c fgcollect -n '__fgcollect_is diff' -s f -l format -x -a 'svg html folded pb.gz' -d 'for standard output'
complete -c fgcollect -n $drawn -l no-normalize -d 'counts as they are'
complete -c fgcollect -n $drawn -s n -l normalize -d 'as shares of each side\'s total'
complete -c fgcollect -n $drawn -l width-of -x -a 'after before union' -d 'whose width frames have'
complete -c fgcollect -n $drawn -l split-kinds -d 'a method that is compiled otherwise is another one'
complete -c fgcollect -n $drawn -s s -l strip-hex -d 'no addresses in folded output'
complete -c fgcollect -n $drawn -l negate -d 'the first count is after'
complete -c fgcollect -n $drawn -l subtitle -x -d 'below the title'
complete -c fgcollect -n $drawn -l notes -x -d 'behind the drawing'
complete -c fgcollect -n $drawn -l width -x -d 'of the drawing, in pixels'
complete -c fgcollect -n $drawn -l height -x -d 'of a frame, in pixels'
complete -c fgcollect -n $drawn -l minwidth -x -d 'narrower frames are not drawn'
complete -c fgcollect -n $drawn -l fonttype -x -d 'name'
complete -c fgcollect -n $drawn -l fontsize -x -d 'in pixels'
complete -c fgcollect -n $drawn -l fontwidth -x -d 'of a letter, as a share of the size'
complete -c fgcollect -n $drawn -s c -l colors -x -d 'of frames' \
    -a 'java js perl rust python hot mem io wakeup chain red green blue aqua yellow purple orange'
complete -c fgcollect -n $drawn -l bgcolors -x -a 'yellow blue green grey' -d 'of the background'
complete -c fgcollect -n $drawn -l countname -x -d 'of what is counted'
complete -c fgcollect -n $drawn -l nametype -x -d 'of a frame'
complete -c fgcollect -n $drawn -l factor -x -d 'counts are shown times so many'
complete -c fgcollect -n $drawn -l total -x -d 'shares are of so many'
complete -c fgcollect -n $drawn -l random -d 'shades differ from run to run'
complete -c fgcollect -n '__fgcollect_is render' -l cp -d 'shades are those of palette.map'
complete -c fgcollect -n $drawn -s i -l inverted -d 'the root on top'
complete -c fgcollect -n $drawn -l reverse -d 'stacks from the leaf on'
complete -c fgcollect -n $drawn -l base -x -d 'stacks begin there, others are left out'
complete -c fgcollect -n $drawn -l skip-after -x -d 'stacks begin there, others are kept'
complete -c fgcollect -n $drawn -l pid -d 'PIDs in the lowest frame'
complete -c fgcollect -n $drawn -l tid -d 'thread IDs in the lowest frame'
complete -c fgcollect -n $drawn -l kernel -d 'keep kinds of kernel frames'
complete -c fgcollect -n $drawn -l jit -d 'keep kinds of compiled code'
complete -c fgcollect -n $drawn -l all -d 'keep both'
complete -c fgcollect -n $drawn -l addrs -d 'functions without a name by their address'
complete -c fgcollect -n $drawn -l event-filter -x -d 'this event'
complete -c fgcollect -n $drawn -l samples -d 'count samples'
complete -c fgcollect -n $drawn -l inline -d 'functions that were inlined in native code'
complete -c fgcollect -n $drawn -l hash -d 'always on'
complete -c fgcollect -n $drawn -l deterministic -d 'always on'
complete -c fgcollect -n $drawn -l no-sort -d 'changes nothing'
complete -c fgcollect -n $drawn -l nthreads -x -d 'changes nothing'
complete -c fgcollect -n $drawn -l encoding -x -a UTF-8 -d 'of the output'
complete -c fgcollect -n '__fgcollect_is diff' -l top -x -d 'so many methods'
