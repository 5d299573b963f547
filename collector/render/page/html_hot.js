// SPDX-License-Identifier: Apache-2.0
/*
 * The hot spot: the function of the program's own in which most time is spent, with all that it calls of
 * libraries, of the JDK, of the JVM and of the kernel. Who looks at a stranger's program knows by it where
 * to begin to read; what a stack ends in is mostly a copy of bytes or a look into a map.
 */
const RANK = { none: 0, system: 1, library: 2, own: 3 };
/* Of languages on the JVM and of what most programs use, without a package that a program is likely to be of. */
const JAVA_LIBRARIES = new RegExp("^(?:(?:kotlin|kotlinx|scala|clojure|groovy|akka|reactor|rx|okhttp3|okio)[./]|" +
	"(?:org[./](?:jruby|codehaus|slf4j|joda|aspectj|objectweb)|org[./]apache[./](?:groovy|commons|logging|log4j|http)|" +
	"com[./](?:google[./](?:common|protobuf|gson)|fasterxml|zaxxer|oracle[./]truffle)|ch[./]qos|io[./](?:reactivex|micrometer|grpc)|" +
	"net[./](?:sf[./]cglib|bytebuddy))[./])");
const NATIVE_LIBRARY = /\.so(?:\.[\d.]+)?$|^\[/, LAUNCHER = /^java[cw]?$/;
/* What compilers link into each program. */
const NATIVE_RUNTIME = /^(?:<?(?:std|core|alloc|__gnu_cxx)::|_start$|__libc_|(?:runtime|internal|sync|syscall)[./]|JS:.* node:)/;

function javaRank(name, frameworks, plumbing)
{
	const framework = listOf(frameworks, name);
	if (plumbing || framework === frameworks.length - 1)
		return RANK.system;
	return framework >= 0 || JAVA_LIBRARIES.test(name) ? RANK.library : RANK.own;
}

/* Without a module nobody knows whose a function is: beside Java, which is the program's, it is a library's. */
function nativeRank({ name, module }, hasJava)
{
	const file = (module || "").replace(/.*\//, "");
	if (LIBRARIES.test(file) || LAUNCHER.test(file) || NATIVE_RUNTIME.test(name) || (!file && hasJava))
		return RANK.system;
	return NATIVE_LIBRARY.test(file) ? RANK.library : RANK.own;
}

/* Of each key how near to the program's own it is; 0 for what is no function. */
function ranksOf(keys)
{
	const { kinds, facts: { frameworks } } = app.data, plumbings = plumbingOf(keys);
	const letters = keys.map(({ kind }) => kinds[kind].letter), isJava = at => "i1J+*".includes(letters[at]) && !keys[at].module;
	const hasJava = keys.some((key, at) => isJava(at));
	return Uint8Array.from(keys, (key, at) => "#wo?".includes(letters[at]) ? RANK.none :
		isJava(at) ? javaRank(key.name, frameworks, plumbings[at] >= 0) :
		"nC".includes(letters[at]) && !/^libjvm\./.test((key.module || "").replace(/.*\//, "")) ?
			nativeRank(key, hasJava) : RANK.system);
}

/* The JVM's own tasks: of each key its number, from 1 on. */
function tasksOf(keys)
{
	const { tasks } = app.data.facts;
	return Uint8Array.from(keys, key => isFrame(key) ? 1 + listOf(tasks, key.name) :
		1 + tasks.findIndex(({ name }) => name === key.name));
}

/*
 * Of each node the one whose time its own samples are: of its callers and itself the deepest of those that
 * are nearest to the program's own. 0 for none. task: of each node what its thread does, where that is the JVM's.
 */
function whoseTime({ key, keys, parent, count })
{
	const ranks = ranksOf(keys), tasks = tasksOf(keys);
	const of = new Int32Array(count), rank = new Uint8Array(count), task = new Uint8Array(count);
	for (let i = 1; i < count; i++) {
		const up = parent[i], own = ranks[key[i]];
		const isNearer = own > 0 && own >= rank[up];
		of[i] = isNearer ? i : of[up];
		rank[i] = isNearer ? own : rank[up];
		task[i] = task[up] || (rank[up] === RANK.own ? 0 : tasks[key[i]]);
	}
	return { of, task };
}

/* Of each key the first one of that name. */
function sameNames(keys)
{
	const first = new Map();
	return Int32Array.from(keys, ({ name }, at) => first.has(name) ? first.get(name) : first.set(name, at) && at);
}

/* The place of the greatest number of those that are wanted, or -1. */
function greatest(numbers, isWanted)
{
	let best = -1;
	for (let at = 0; at < numbers.length; at++)
		if (numbers[at] > (best < 0 ? 0 : numbers[best]) && isWanted(at))
			best = at;
	return best;
}

/* Whether a node says why another one waits: that is the function's own time. */
const isWaitOf = ({ keys, key, parent }, i, of) => parent[i] === of && app.data.kinds[keys[key[i]].kind].letter === "w";

/* Of each node the time that is its own by whoseTime(), and of each task of the JVM its time. */
function spendTime(tree, { of, task })
{
	const atNode = new Float64Array(tree.count), tasks = new Float64Array(app.data.facts.tasks.length);
	for (let i = 1; i < tree.count; i++) {
		if (task[i] > 0)
			tasks[task[i] - 1] += tree.selfWide[i];
		else if (of[i] > 0)
			atNode[of[i]] += tree.selfWide[i];
	}
	return { atNode, tasks };
}

/*
 * Where no function has much: from the root up the way that most of the time takes, to the function nearest to
 * the program's own that is the last to have half of the time of the first one; 0 where that way has none.
 */
function endOfTrunk(tree, { of, task })
{
	const { first, next } = tree, wide = sumUp(tree, tree.selfWide.map((n, i) => task[i] ? 0 : n));
	const widestChild = i => {
		let best = -1;
		for (let child = first[i]; child >= 0; child = next[child])
			if (best < 0 || wide[child] > wide[best])
				best = child;
		return best;
	};
	let i = 0, trunk = 0, child = widestChild(0);
	while (child >= 0 && wide[child] > trunk / 2) {
		i = child;
		child = widestChild(i);
		trunk = trunk || (of[i] > 0 ? wide[i] : 0);
	}
	return of[i];
}

/* A function's time with all that it calls, once where it calls itself, and its own alone. */
function timeOfFunction(tree, same, spot)
{
	const { key, parent, count, wide, selfWide } = tree, inside = new Uint8Array(count);
	let total = 0, self = 0;
	for (let i = 1; i < count; i++) {
		const up = parent[i], isOne = same[key[i]] === spot;
		inside[i] = isOne || inside[up] ? 1 : 0;
		total += isOne && !inside[up] ? wide[i] : 0;
		self += isOne || (same[key[up]] === spot && isWaitOf(tree, i, up)) ? selfWide[i] : 0;
	}
	return { total, self };
}

const LEAST_SPOT = 0.1;     // of all that is no task of the JVM, that a function must have to be a hot spot

/*
 * { node, name, total, self, tasks, task }: the function's widest place, its name, its time with what it
 * calls and alone, of each task of the JVM its time, and of each node the task; or null where no function has any.
 */
function hotSpotOf(tree)
{
	const { keys, key } = tree, whose = whoseTime(tree), { atNode, tasks } = spendTime(tree, whose);
	const same = sameNames(keys), sums = new Float64Array(keys.length);
	atNode.forEach((n, i) => { sums[same[key[i]]] += n; });
	const best = greatest(sums, () => true), all = sums.reduce((sum, n) => sum + n, 0);
	if (best < 0)
		return null;
	const node = (sums[best] < LEAST_SPOT * all && endOfTrunk(tree, whose)) || greatest(atNode, i => same[key[i]] === best);
	return { node, name: keys[key[node]].name, ...timeOfFunction(tree, same, same[key[node]]), tasks, task: whose.task };
}

/*
 * Of a difference { node, name, change }: the function whose own time has changed most, and its place that
 * did; or null where nothing has changed beyond noise. No share of the wider sides is one of either side.
 */
function mostChangedOf(tree)
{
	const { key, keys, self, before } = tree, same = sameNames(keys);
	const after = new Float64Array(keys.length), then = new Float64Array(keys.length);
	const differs = (n, old) => changeClass(n, old) === CHANGE.noise ? 0 : Math.abs(n - old);
	for (let i = 0; i < tree.count; i++) {
		after[same[key[i]]] += self[i];
		then[same[key[i]]] += before[i];
	}
	const best = greatest(after.map((n, at) => differs(n, then[at])), () => true);
	if (best < 0)
		return null;
	const node = greatest(Float64Array.from(self, (n, i) => Math.abs(n - before[i])), i => same[key[i]] === best);
	return { node, name: keys[key[node]].name, change: after[best] - then[best] };
}

/* null too where callers are first: functions have no place of their own there. */
function hotSpot(tree)
{
	if (tree.hot === undefined)
		tree.hot = !tree.selfWide ? null : app.data.before ? mostChangedOf(tree) : hotSpotOf(tree);
	return tree.hot;
}

const LEAST_TASK = 0.1;     // of all, that is worth a word beside the hot spot

/*
 * "Hot spot: a/Shop.search, total 41.20%, self 2.00%; [GC] 30.10%", and what takes more than the hot spot in
 * front: "[JIT compiler] 57.97%; hot spot: a/Shop.search, total 21.35%".
 */
function hotText({ name, total, self, tasks }, all)
{
	const big = app.data.facts.tasks.map(({ name: of }, at) => [of, tasks[at]]).filter(([, n]) => n > LEAST_TASK * all);
	const said = ([of, n]) => of + " " + percent(n, all), larger = big.filter(([, n]) => n > total).map(said);
	const spot = (larger.length ? "hot spot: " : "Hot spot: ") + name + ", total " + percent(total, all) +
		(self > 0 ? ", self " + percent(self, all) : "");
	return [...larger, spot, ...big.filter(([, n]) => n <= total).map(said)].join("; ");
}
