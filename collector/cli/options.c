// SPDX-License-Identifier: Apache-2.0
/* Reads the command line, see options.h. The first word that is no option is the command. */
#include "cli/options.h"
#include "base/help.h"
#include "cli/target_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "intake/intake.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_OUTPUT "flamegraph.svg"
#define MAX_HZ	       100000 /* a message has it, too */
#define MAX_SECONDS    (7 * 24 * 60 * 60)

#define STACK_ASKED_MAX (64u << 10)
#define STACK_LIMIT	"64000" /* as a text: SAMPLER_MAX_STACK_BYTES */
static_assert(SAMPLER_MAX_STACK_BYTES == 64000, "STACK_LIMIT says so");

enum {
	OPT_CXX_NAMES = 256,
	OPT_FORMAT,
	OPT_HTTP,
	OPT_KEEP,
	OPT_KEEP_BYTES,
	OPT_LOG_LEVEL,
	OPT_PERIOD,
	OPT_JAVA_NAMES,
	OPT_FOLD_FRAMEWORKS,
	OPT_JAVA_ONLY,
	OPT_JITDUMP,
	OPT_LINES,
	OPT_MAP_DIR,
	OPT_MAP_NAMES,
	OPT_NATIVE_LINES,
	OPT_PID_LABEL,
	OPT_PROGRESS,
	OPT_RAW_NAMES,
	OPT_SOCKET,
	OPT_SPLIT_LEVELS,
	OPT_STACK_SIZE,
	OPT_SYMBOL_CACHE,
	OPT_THREAD_STARTS,
	OPT_THREADS,
	OPT_TITLE,
	OPT_JSON,
	OPT_UNTIL_EOF,
	OPT_UNWIND,
	OPT_VIRTUAL_THREADS,
	OPT_VERSION,
	OPT_WATCH,
};

static const struct option long_options[] = {
	{"all", no_argument, NULL, 'a'},
	{"cxx-names", required_argument, NULL, OPT_CXX_NAMES},
	{"duration", required_argument, NULL, 'd'},
	{"event", required_argument, NULL, 'e'},
	{"fold-frameworks", no_argument, NULL, OPT_FOLD_FRAMEWORKS},
	{"format", required_argument, NULL, OPT_FORMAT},
	{"frequency", required_argument, NULL, 'F'},
	{"help", no_argument, NULL, 'h'},
	{"http", required_argument, NULL, OPT_HTTP},
	{"java-names", required_argument, NULL, OPT_JAVA_NAMES},
	{"java-only", no_argument, NULL, OPT_JAVA_ONLY},
	{"jitdump", required_argument, NULL, OPT_JITDUMP},
	{"json", no_argument, NULL, OPT_JSON},
	{"keep", required_argument, NULL, OPT_KEEP},
	{"keep-bytes", required_argument, NULL, OPT_KEEP_BYTES},
	{"lines", no_argument, NULL, OPT_LINES},
	{"log-level", required_argument, NULL, OPT_LOG_LEVEL},
	{"map-dir", required_argument, NULL, OPT_MAP_DIR},
	{"map-names", required_argument, NULL, OPT_MAP_NAMES},
	{"native-lines", no_argument, NULL, OPT_NATIVE_LINES},
	{"output", required_argument, NULL, 'o'},
	{"period", required_argument, NULL, OPT_PERIOD},
	{"pid", required_argument, NULL, 'p'},
	{"progress", no_argument, NULL, OPT_PROGRESS},
	{"raw-names", no_argument, NULL, OPT_RAW_NAMES},
	{"show-pid", no_argument, NULL, OPT_PID_LABEL},
	{"socket", required_argument, NULL, OPT_SOCKET},
	{"split-levels", no_argument, NULL, OPT_SPLIT_LEVELS},
	{"stack-size", required_argument, NULL, OPT_STACK_SIZE},
	{"symbol-cache", required_argument, NULL, OPT_SYMBOL_CACHE},
	{"thread-starts", no_argument, NULL, OPT_THREAD_STARTS},
	{"threads", no_argument, NULL, OPT_THREADS},
	{"title", required_argument, NULL, OPT_TITLE},
	{"until-eof", no_argument, NULL, OPT_UNTIL_EOF},
	{"unwind", required_argument, NULL, OPT_UNWIND},
	{"virtual-threads", required_argument, NULL, OPT_VIRTUAL_THREADS},
	{"verbose", no_argument, NULL, 'v'},
	{"version", no_argument, NULL, OPT_VERSION},
	{"watch", no_argument, NULL, OPT_WATCH},
	TARGET_OPTIONS,
	TOP_LONG_OPTIONS,
	{0},
};

void options_print_help(FILE *stream)
{
	fputs("Flame graphs for Java in containers, without attaching to a JVM.\n"
	      "\n"
	      "  fgcollect record [-d SECS] [-F HZ] [-e EVENT] [-p PID | NAMES] [-a]\n"
	      "                   [-o FILE]...      record and draw a flame graph\n"
	      "  fgcollect --watch [-o DIR]         a daemon: keeps /tmp/perf-<pid>.map of every "
	      "JVM "
	      "current,\n"
	      "                                     and with DIR writes flame graphs there\n"
	      "  fgcollect top [--once] [--json]    what runs right now, as a live table\n"
	      "  fgcollect list [--json]            every JVM with the agent\n"
	      "  fgcollect doctor [--json]          what is in the way of whole profiles, and the "
	      "fix\n"
	      "  fgcollect render [FILE]...         draw recordings and what others recorded\n"
	      "  fgcollect diff BEFORE AFTER        what changed between two of them\n"
	      "                                     (these have a --help of their own,\n"
	      "                                     so has top)\n"
	      "  fgcollect --version | --help\n"
	      "\n"
	      "What to record (all JVMs with the agent unless said otherwise):\n"
	      "  -p, --pid PID          this process, Java or not, as the host numbers "
	      "it\n" TARGET_OPTIONS_HELP
	      "  -a, --all              every process, Java or not; with one of these five, of it\n"
	      "How:\n"
	      "  -d, --duration SECS    for so long, default 10; Ctrl-C ends it and keeps what it "
	      "has\n"
	      "      --until-eof        or until standard input ends: for who starts it through a\n"
	      "                         connection, as kubectl exec or ssh\n"
	      "      --progress         a line a second on stderr, even if that is no terminal\n"
	      "  -F, --frequency HZ     so often, default 99\n"
	      "  -e, --event EVENT      at this event, default cycles, or cpu-clock where there "
	      "is\n"
	      "                         no hardware counter\n"
	      "      --unwind HOW       full: from snapshots of the stack (the default), or fp: "
	      "along\n"
	      "                         frame pointers alone\n"
	      "      --virtual-threads HOW  carrier: down to the thread that runs them (the "
	      "default), or\n"
	      "                         cut: without that thread's frames\n"
	      "      --stack-size BYTES of a snapshot, default 48k, from 1k to " STACK_LIMIT
	      " (64k "
	      "is taken\n"
	      "                         for that)\n"
	      "      --symbol-cache SIZE    of files' symbols and unwind rules, default 512M, from "
	      "1M "
	      "to 64G\n"
	      "                         (--watch, or record without a daemon)\n"
	      "Into what:\n"
	      "  -o, --output FILE      default flamegraph.svg; may be repeated. The format "
	      "follows the\n"
	      "                         suffix: .svg .html .folded .fgrec (all of it, for render) "
	      ".pb.gz\n"
	      "                         .speedscope.json .firefox.json .perf.txt\n"
	      "                         - is standard output, with --format FORMAT: such a suffix "
	      "without\n"
	      "                         the dot; what else is said goes to stderr\n"
	      "      --threads          a level for each thread\n"
	      "      --show-pid         PIDs in the lowest level\n"
	      "      --title TEXT\n"
	      "      --java-names STYLE slash: java/lang/String.hashCode (the default), dot, "
	      "simple:\n"
	      "                         String.hashCode, or signature: with parameters\n"
	      "      --cxx-names STYLE  of C++ and Rust, plain: std::vector<int>::push_back "
	      "(the default),\n"
	      "                         simple: std::vector<...>::push_back, or full: with "
	      "parameters\n"
	      "      --split-levels     a method is a box for each way it ran: interpreted, C1, "
	      "C2, inlined\n"
	      "      --java-only        kernel, native and JVM time is that of the Java method "
	      "that "
	      "caused it\n"
	      "      --fold-frameworks  frames of Spring, Netty and their like are one box\n"
	      "      --thread-starts    what Java threads begin with, not their pool (.svg, "
	      ".html)\n"
	      "      --lines            source lines: a frame for each line of a method\n"
	      "      --native-lines     functions inlined into native code, and with --lines its "
	      "lines,\n"
	      "                         from debug information\n"
	      "      --raw-names        keep what differs from run to run: Foo$$Lambda.0x7fa8..\n"
	      "Where things are:\n"
	      "      --socket PATH      the agents' socket, default " INTAKE_DEFAULT_SOCKET "\n"
	      "      --map-dir DIR      of perf-<pid>.map, default /tmp\n"
	      "      --map-names LIST   of methods in these: dotted (java.lang.String::hashCode), "
	      "signatures,\n"
	      "                         sourcepos (with the source file); and one of unfold, "
	      "unfoldall,\n"
	      "                         simple: inlined code has lines of its own; for --watch, "
	      "and\n"
	      "                         record without a daemon\n"
	      "      --jitdump DIR      writes a jitdump there for 'perf inject --jit' (--watch, "
	      "or\n"
	      "                         record without a daemon)\n"
	      "  -v, --verbose\n"
	      "  -h, --help\n"
	      "\n",
	      stream);
	fputs(watch_options_help(), stream);
	fputs("\n"
	      "In the image, once: -agentpath:/opt/fgcollect/libfgagent.so\n"
	      "Its container needs the socket's directory: -v /run/fgcollect:/run/fgcollect:ro\n",
	      stream);
}

/* A whole text as a number within limits, or false. */
static bool parse_number(const char *text, double least, double most, double *ret)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno || !isfinite(value) || value < least || value > most)
		return false;
	*ret = value;
	return true;
}

static int bad_value(const char *option, const char *value, const char *why)
{
	log_error("%s %s: %s", option, value, why);
	return -EINVAL;
}

static int set_duration(struct options *options, const char *text)
{
	double seconds;

	if (!parse_number(text, 0, MAX_SECONDS, &seconds) || seconds * 1e9 < 1e6)
		return bad_value("-d", text, "a number of seconds greater than 0 is needed");
	options->recording.duration_ns = (uint64_t)(seconds * 1e9);
	options->has_duration = true;
	return 0;
}

static int set_frequency(struct options *options, const char *text)
{
	double hz;

	if (!parse_number(text, 1, MAX_HZ, &hz) || hz != floor(hz))
		return bad_value("-F", text,
				 "a whole number of samples a second is needed, from 1 to 100000");
	options->recording.hz = (unsigned)hz;
	return 0;
}

static int set_unwind(struct options *options, const char *text)
{
	options->is_fp_only = strcmp(text, "fp") == 0;
	if (options->is_fp_only || strcmp(text, "full") == 0)
		return 0;
	log_error("--unwind %s: no such way; there are: full fp", text);
	return -EINVAL;
}

static int set_virtual_threads(struct options *options, const char *text)
{
	options->recording.cuts_carriers = strcmp(text, "cut") == 0;
	if (options->recording.cuts_carriers || strcmp(text, "carrier") == 0)
		return 0;
	log_error("--virtual-threads %s: no such way; there are: carrier cut", text);
	return -EINVAL;
}

/* Bytes, or with a k behind them 1024 as many. Up to 64k, of which a record holds not quite all. */
static int set_stack_size(struct options *options, const char *text)
{
	unsigned long bytes;
	char *end;

	errno = 0;
	bytes = strtoul(text, &end, 10);
	if ((*end == 'k' || *end == 'K') && bytes <= STACK_ASKED_MAX) {
		bytes *= 1024;
		end++;
	}
	if (text[0] < '0' || text[0] > '9' || *end || errno || bytes % 8 != 0 ||
	    bytes < SAMPLER_LEAST_STACK_BYTES || bytes > STACK_ASKED_MAX)
		return bad_value("--stack-size", text,
				 "a number of bytes from 1k to " STACK_LIMIT
				 " is needed, a multiple "
				 "of 8; the kernel has no room for more in a sample");
	options->recording.stack_bytes =
		bytes < SAMPLER_MAX_STACK_BYTES ? (uint32_t)bytes : SAMPLER_MAX_STACK_BYTES;
	options->has_stack_size = true;
	return 0;
}

/* Bytes, or with k, M or G behind them so many times 1024 of them. */
static int set_symbol_cache(struct options *options, const char *text)
{
	static const char units[] = "kmg";
	unsigned long long bytes;
	const char *unit;
	unsigned shift = 0;
	char *end;

	errno = 0;
	bytes = strtoull(text, &end, 10);
	unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned)(unit - units + 1);
		end++;
	}
	if (text[0] < '0' || text[0] > '9' || *end || errno ||
	    bytes > TABLE_CACHE_MOST_BYTES >> shift || bytes << shift < TABLE_CACHE_LEAST_BYTES)
		return bad_value("--symbol-cache", text,
				 "a number of bytes from 1M to 64G is needed, such as 512M: so "
				 "much is kept of symbols and unwind rules together");
	options->symbol_cache = text;
	options->table_bytes = (size_t)(bytes << shift);
	return 0;
}

static int set_pid(struct options *options, const char *text)
{
	double pid;

	if (!parse_number(text, 1, 4194304, &pid) || pid != floor(pid))
		return bad_value("-p", text, "a PID is needed");
	options->recording.pid = (pid_t)pid;
	return 0;
}

static int set_event(struct options *options, const char *text)
{
	if (!sampler_is_event(text)) {
		log_error("-e %s: no such event; there are: %s", text, sampler_events());
		return -EINVAL;
	}
	snprintf(options->recording.event, sizeof(options->recording.event), "%s", text);
	return 0;
}

static int set_java_names(struct options *options, const char *text)
{
	if (java_name_style_of(text, &options->recording.names.style) == 0)
		return 0;
	log_error("--java-names %s: no such style; there are: %s", text, java_name_styles());
	return -EINVAL;
}

static int set_cxx_names(struct options *options, const char *text)
{
	if (demangle_style_of(text, &options->recording.cxx_names) == 0)
		return 0;
	log_error("--cxx-names %s: no such style; there are: %s", text, demangle_style_words());
	return -EINVAL;
}

static int add_output(struct options *options, const char *path)
{
	struct output_path *output = &options->outputs[options->n_outputs];

	if (options->n_outputs == OUTPUT_PATHS_MAX)
		return bad_value("-o", path, "that is one output too many");
	output->path = path;
	options->n_outputs++;
	return 0;
}

/* Its format has no suffix to follow from, and there is but one of it. */
static int set_stdout(struct options *options, struct output_path *output)
{
	const struct watch_options *watch = &options->watch;

	for (const struct output_path *other = options->outputs; other < output; other++) {
		if (other->is_stdout)
			return bad_value("-o", "-", "there is but one standard output");
	}
	output->is_stdout = true;
	output->format = watch->format;
	if (watch->has_format)
		return 0;
	log_error("-o -: --format is needed, which of these it is to be, without the dot: %s",
		  render_suffixes());
	return -EINVAL;
}

static int set_format(struct options *options, struct output_path *output)
{
	if (options->command == COMMAND_RECORD && strcmp(output->path, "-") == 0)
		return set_stdout(options, output);
	if (render_format_of(output->path, &output->format) == 0)
		return 0;
	log_error("-o %s: the form follows the suffix, and this is none of: %s", output->path,
		  render_suffixes());
	return -EINVAL;
}

/* Of record each is a file, whose suffix says what it is to be; of the daemon one, a directory. */
static int finish_outputs(struct options *options)
{
	bool has_stdout = false;
	int err = 0;

	if (options->command == COMMAND_RECORD && options->n_outputs == 0)
		add_output(options, DEFAULT_OUTPUT);
	if (options->command == COMMAND_WATCH && options->n_outputs > 1)
		return bad_value("-o", options->outputs[1].path, "--watch has one directory");
	if (options->command == COMMAND_WATCH && options->n_outputs == 1) {
		options->watch.output_dir = options->outputs[0].path;
		options->n_outputs = 0;
	}
	for (size_t i = 0; !err && i < options->n_outputs; i++) {
		err = set_format(options, &options->outputs[i]);
		has_stdout |= options->outputs[i].is_stdout;
	}
	if (err || has_stdout || !options->watch.has_format || options->command == COMMAND_WATCH)
		return err;
	log_error("--format goes with --watch, and with -o - of record: the form of a file "
		  "follows its suffix");
	return -EINVAL;
}

/* What goes with record alone. */
static int check_record(const struct options *options)
{
	const char *given = options->ends_with_stdin	? "--until-eof"
			    : options->says_progress	? "--progress"
			    : options->splits_levels	? "--split-levels"
			    : options->java_only	? "--java-only"
			    : options->folds_frameworks ? "--fold-frameworks"
			    : options->shows_starts	? "--thread-starts"
							: NULL;

	if (!given || options->command == COMMAND_RECORD)
		return 0;
	log_error("%s goes with record", given);
	return -EINVAL;
}

static int set_log_level(struct options *options, const char *text)
{
	if (log_level_of(text, &options->log_level) == 0)
		return 0;
	log_error("--log-level %s: no such level; there are: error warning info debug", text);
	return -EINVAL;
}

static int set_directory(const char **ret, const char *option, const char *path)
{
	if (!path[0])
		return bad_value(option, path, "a path is needed");
	*ret = path;
	return 0;
}

static int set_map_names(struct options *options, const char *text)
{
	struct perf_map_style style;

	if (perf_map_style_parse(text, &style) < 0) {
		log_error("--map-names %s: words with commas between them are needed, of: %s", text,
			  perf_map_style_words());
		return -EINVAL;
	}
	options->map_names = text;
	options->map_style = style;
	return 0;
}

static int apply(struct options *options, int option)
{
	if (target_options_are(option))
		return target_options_apply(&options->recording.select, option, optarg);
	switch (option) {
	case 'a':
		options->recording.all = true;
		return 0;
	case 'd':
		return set_duration(options, optarg);
	case 'e':
		return set_event(options, optarg);
	case 'F':
		return set_frequency(options, optarg);
	case 'o':
		return add_output(options, optarg);
	case 'p':
		return set_pid(options, optarg);
	case 'v':
		options->verbose = true;
		return 0;
	case OPT_CXX_NAMES:
		return set_cxx_names(options, optarg);
	case OPT_FORMAT:
		return watch_options_set_format(&options->watch, optarg);
	case OPT_HTTP:
		return watch_options_set_http(&options->watch, optarg);
	case OPT_KEEP:
		return watch_options_set_keep(&options->watch, optarg);
	case OPT_KEEP_BYTES:
		return watch_options_set_keep_bytes(&options->watch, optarg);
	case OPT_LOG_LEVEL:
		return set_log_level(options, optarg);
	case OPT_PERIOD:
		return watch_options_set_period(&options->watch, optarg);
	case OPT_JAVA_NAMES:
		return set_java_names(options, optarg);
	case OPT_JAVA_ONLY:
		options->java_only = true;
		return 0;
	case OPT_FOLD_FRAMEWORKS:
		options->folds_frameworks = true;
		return 0;
	case OPT_THREAD_STARTS:
		options->shows_starts = true;
		return 0;
	case OPT_JITDUMP:
		return set_directory(&options->jitdump_dir, "--jitdump", optarg);
	case OPT_JSON:
		options->json = true;
		return 0;
	case OPT_MAP_DIR:
		return set_directory(&options->map_dir, "--map-dir", optarg);
	case OPT_MAP_NAMES:
		return set_map_names(options, optarg);
	case OPT_LINES:
		options->recording.names.has_lines = true;
		return 0;
	case OPT_NATIVE_LINES:
		options->recording.has_native_lines = true;
		return 0;
	case OPT_PID_LABEL:
		options->recording.by_pid = true;
		return 0;
	case OPT_PROGRESS:
		options->says_progress = true;
		return 0;
	case OPT_RAW_NAMES:
		options->recording.names.is_raw = true;
		return 0;
	case OPT_SOCKET:
		return set_directory(&options->socket_path, "--socket", optarg);
	case OPT_SPLIT_LEVELS:
		options->splits_levels = true;
		return 0;
	case OPT_STACK_SIZE:
		return set_stack_size(options, optarg);
	case OPT_SYMBOL_CACHE:
		return set_symbol_cache(options, optarg);
	case OPT_THREADS:
		options->recording.by_thread = true;
		return 0;
	case OPT_TITLE:
		options->title = optarg;
		return 0;
	case OPT_UNTIL_EOF:
		options->ends_with_stdin = true;
		return 0;
	case OPT_UNWIND:
		return set_unwind(options, optarg);
	case OPT_VIRTUAL_THREADS:
		return set_virtual_threads(options, optarg);
	case OPT_VERSION:
		options->command = COMMAND_VERSION;
		return 0;
	case OPT_WATCH:
		if (options->command != COMMAND_VERSION)
			options->command = COMMAND_WATCH;
		return 0;
	default:
		return top_options_apply(&options->top, option, optarg);
	}
}

/* COMMAND_NONE of a word that is none, or that comes first, as render and diff do. */
static enum command command_of(const char *word)
{
	static const struct {
		const char *word;
		enum command command;
	} commands[] = {
		{"record", COMMAND_RECORD},   {"list", COMMAND_LIST},	  {"top", COMMAND_TOP},
		{"doctor", COMMAND_DOCTOR},   {"watch", COMMAND_WATCH},	  {"help", COMMAND_HELP},
		{"version", COMMAND_VERSION}, {"render", COMMAND_RENDER}, {"diff", COMMAND_DIFF},
	};

	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(commands[i].word, word) == 0)
			return commands[i].command;
	}
	return COMMAND_NONE;
}

/* Of the last word that is a command. */
static void set_help(struct options *options, char **words, int n)
{
	options->command = COMMAND_HELP;
	for (int i = 0; i < n; i++) {
		const enum command command = command_of(words[i]);

		if (command != COMMAND_NONE && command != COMMAND_HELP)
			options->help_of = command;
	}
}

static bool is_help(char **words, int n)
{
	for (int i = 0; i < n; i++) {
		if (command_of(words[i]) == COMMAND_HELP)
			return true;
	}
	return false;
}

static int set_command(struct options *options, const char *word)
{
	const enum command command = command_of(word);

	if (command == COMMAND_RENDER || command == COMMAND_DIFF)
		return bad_value("command", word,
				 "it stands before its options: try 'fgcollect render --help'");
	if (command != COMMAND_NONE) {
		if (options->command == COMMAND_VERSION)
			return 0;
		if (options->command != COMMAND_NONE && options->command != command)
			return bad_value("command", word, "there is one already");
		options->command = command;
		return 0;
	}
	if (options->command != COMMAND_NONE) {
		log_error("%s: a command takes options alone: a process is -p PID, a container "
			  "--container NAME, a file -o FILE",
			  word);
		return -EINVAL;
	}
	log_error(
		"%s: no such command; there are: record, top, list, doctor, render, diff, --watch, "
		"--version, "
		"--help",
		word);
	return -EINVAL;
}

static int check(const struct options *options)
{
	const struct recording_options *recording = &options->recording;
	const bool has_names = !selector_is_empty(&recording->select);

	if (recording->pid > 0 && (recording->all || has_names)) {
		log_error("-p names one process: it goes neither with -a nor with --container and "
			  "its like");
		return -EINVAL;
	}
	if (options->is_fp_only && options->has_stack_size) {
		log_error("--stack-size goes with --unwind=full: with fp there are no snapshots");
		return -EINVAL;
	}
	if (options->jitdump_dir && options->command == COMMAND_LIST) {
		log_error("--jitdump goes with --watch or record, not with list");
		return -EINVAL;
	}
	if (options->symbol_cache && options->command == COMMAND_LIST) {
		log_error("--symbol-cache goes with --watch or record, not with list");
		return -EINVAL;
	}
	if (options->watch.first_given && options->command != COMMAND_WATCH) {
		log_error("%s goes with --watch", options->watch.first_given);
		return -EINVAL;
	}
	if (options->top.given && options->command != COMMAND_TOP) {
		log_error("%s goes with top", options->top.given);
		return -EINVAL;
	}
	if (options->command == COMMAND_NONE) {
		log_error("what is to be done? Try: fgcollect record, or fgcollect --help");
		return -EINVAL;
	}
	return 0;
}

/* A recording that goes on until top ends; who the samples are of is told by its tree. */
static int make_top(struct options *options)
{
	struct recording_options *recording = &options->recording;
	const uint64_t delay_ns = options->has_duration ? recording->duration_ns : 0;
	const int err = top_options_finish(&options->top, delay_ns);

	if (options->n_outputs > 0 || options->title || recording->by_thread) {
		log_error("-o, --title and --threads are record's: top draws nothing; its --view "
			  "threads tells threads apart");
		return -EINVAL;
	}
	recording->duration_ns = RECORDING_ENDLESS_NS;
	recording->window_seconds = options->top.window_seconds;
	recording->by_pid = true;
	return err;
}

int options_parse(struct options *options, int argc, char **argv)
{
	static const char short_options[] = "ad:e:F:ho:p:v";
	int option, words, err = 0;
	bool wants_help;

	*options = (struct options){
		.socket_path = INTAKE_DEFAULT_SOCKET,
		.map_dir = "/tmp",
		.table_bytes = TABLE_CACHE_DEFAULT_BYTES,
		.log_level = LOG_LEVEL_INFO,
		.recording = {.duration_ns = OPTIONS_DEFAULT_SECONDS * CLOCK_NS_PER_SEC,
			      .stack_bytes = SAMPLER_DEFAULT_STACK_BYTES},
	};
	watch_options_init(&options->watch);
	wants_help = help_is_asked(argc, argv, short_options, long_options, &words);
	if (wants_help || is_help(argv + words, argc - words)) {
		set_help(options, argv + words, argc - words);
		return 0;
	}
	while (!err && (option = getopt_long(argc, argv, short_options, long_options, NULL)) >= 0)
		err = apply(options, option);
	for (; !err && optind < argc; optind++)
		err = set_command(options, argv[optind]);
	if (!err)
		err = check(options);
	if (!err)
		err = check_record(options);
	if (!err)
		err = finish_outputs(options);
	if (!err && options->command == COMMAND_WATCH)
		err = watch_options_check(&options->watch);
	if (options->recording.hz == 0)
		options->recording.hz =
			options->command == COMMAND_WATCH ? WATCH_DEFAULT_HZ : SAMPLER_DEFAULT_HZ;
	if (options->is_fp_only)
		options->recording.stack_bytes = 0;
	if (!err && options->command == COMMAND_TOP)
		err = make_top(options);
	return err;
}
