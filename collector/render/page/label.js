// SPDX-License-Identifier: Apache-2.0
/*
 * Shorter and shorter forms of a name, and the longest of them that fits a frame, for the scripts of
 * SVG and HTML; label.c does the same for a picture without a script. The build puts it into both,
 * which have a widthOf for the font that they draw with.
 */
function cut(text, width)
{
	const letters = [...text.slice(0, 400)];
	let fits = 0, tooMany = letters.length + 1;
	while (tooMany - fits > 1) {
		const middle = fits + tooMany >> 1;
		if (widthOf(letters.slice(0, middle).join("") + "..") <= width)
			fits = middle;
		else
			tooMany = middle;
	}
	return fits ? letters.slice(0, fits).join("") + ".." : "";
}

function pastSeparator(name, end)
{
	return end > 0 ? Math.max(name.lastIndexOf("/", end - 1), name.lastIndexOf(".", end - 1)) + 1 : 0;
}

/* j.u. for java/util/ */
function initialsOf(packages)
{
	return packages.split(/[/.]/).slice(0, -1)
		.map(p => (p ? String.fromCodePoint(p.codePointAt(0)) : "") + ".").join("");
}

function javaForms(name)
{
	const parameters = name.search(/\([^()]*\)[^()]+$/);
	const bareName = parameters > 0 ? name.slice(0, parameters) : name;
	const dot = bareName.lastIndexOf(".");
	let begin = pastSeparator(bareName, dot < 0 ? bareName.length : dot);
	if (bareName.startsWith("0x", begin))               // a hidden class's number
		begin = pastSeparator(bareName, begin - 1);
	const last = bareName.slice(begin);
	return [bareName, initialsOf(bareName.slice(0, begin)) + last, last,
		last.slice(last.lastIndexOf(".") + 1) || last];
}

/* Without a method behind it. Behind the last dot of a hidden class stands a number. */
function classForms(name)
{
	let dot = name.lastIndexOf(".");
	if (name.startsWith(".0x", dot))
		dot = dot > 0 ? name.lastIndexOf(".", dot - 1) : -1;
	const last = name.slice(dot + 1) || name;
	return [initialsOf(name.slice(0, name.length - last.length)) + last, last];
}

function bracketLength(text)
{
	let depth = 0;
	for (let i = 0; i < text.length; i++) {
		if (text[i] === "<" || text[i] === "(")
			depth++;
		else if (text[i] === ")" || (text[i] === ">" && text[i - 1] !== "-"))
			depth--;
		if (depth === 0)
			return i + 1;
	}
	return text.length;
}

/* A C++ name without parameters, template arguments and return type. */
function bare(name)
{
	const whole = /(?<![\w\x80-\uffff])operator(?:\(\)| |(?![\w\x80-\uffff])[<>=!\-+*\/%^&|~[\],]*)|\(anonymous namespace\)/y;
	let out = "", start = 0;
	for (let i = 0; i < name.length;) {
		whole.lastIndex = i;
		const found = whole.exec(name);
		if (found) {
			out += found[0];
			i += found[0].length;
		} else if (name[i] === "<" && i > 0) {
			i += bracketLength(name.slice(i));
		} else if (name[i] === " " && name[i + 1] === "<") {      // operator<< <char>
			i++;
		} else if (name[i] === "(" && i > 0) {
			break;
		} else {
			out += name[i];
			if (name[i++] === " ")
				start = out.length;
		}
	}
	return out.slice(start);
}

function nativeForms(name)
{
	const forms = [bare(name)];
	if (!forms[0])
		return [];
	for (let form = forms[0], at; (at = form.indexOf("::")) >= 0 && at + 2 < form.length;) {
		form = form.slice(at + 2);
		forms.push(form);
	}
	return forms;
}

const goLibrary = /^(?:database\/sql|(?:archive|compress|container|crypto|debug|encoding|go|hash|html|image|internal|io|log|math|mime|net|os|path|regexp|runtime|sync|testing|text|unicode|vendor)\/)/;

/* As frame_text_is_go of frame_text.c. */
function isGo(name)
{
	const bracket = name.search(/[(\[<]/);
	const path = bracket < 0 ? name : name.slice(0, bracket);
	const slash = path.lastIndexOf("/"), dot = name.indexOf(".", Math.max(slash, 0));
	if (dot < 0 || name.includes("::") || name[0] === "/" || name[0] === "[")
		return false;
	if (name.includes(".(*") || name.includes("[...]"))
		return true;
	if (!/^[a-z]/.test(path.slice(slash + 1)) || slash < 0 || dot > path.length)
		return false;
	return path.slice(0, path.indexOf("/")).includes(".") || goLibrary.test(name);
}

/* What is behind the package's path, its name, or the receiver, whichever comes next; or "". */
function pastGo(name)
{
	const bracket = name.search(/[(\[]/);
	const slash = (bracket < 0 ? name : name.slice(0, bracket)).lastIndexOf("/");
	if (slash >= 0)
		return name.slice(slash + 1);
	const found = /^(?:\([^)]*\)[^.]*|[^.[]*)\./.exec(name);
	return found ? name.slice(found[0].length) : "";
}

function goForms(name)
{
	const forms = [];
	for (let form = pastGo(name); form; form = pastGo(form))
		forms.push(form);
	return forms;
}

/* A name and its shorter forms, by its language: "java", "class", "native" or none of these. */
function formsOf(name, language)
{
	const shorter = language === "java" ? javaForms(name) :
		language === "class" ? classForms(name) :
		language !== "native" ? [] :
		isGo(name) ? goForms(name) : nativeForms(name);
	return [name, ...shorter].map(text => ({ text, width: widthOf(text) }));
}

/* The longest form that fits; only the shortest is ever cut. */
function longestOf(forms, width)
{
	const fitting = forms.find(form => form.width <= width);
	return fitting ? fitting.text : cut(forms[forms.length - 1].text, width);
}
