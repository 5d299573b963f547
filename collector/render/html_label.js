// SPDX-License-Identifier: Apache-2.0
/*
 * Shorter and shorter forms of a name, and the longest of them that fits a frame; label.c does the
 * same for a picture without a script.
 */
const pen = document.createElement("canvas").getContext("2d");
const FONT = "Verdana, \"DejaVu Sans\", sans-serif";

function widthOf(text)
{
	return pen.measureText(text).width;
}

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

function javaForms(name)
{
	const parameters = name.search(/\([^()]*\)[^()]+$/);
	const bareName = parameters > 0 ? name.slice(0, parameters) : name;
	const dot = bareName.lastIndexOf(".");
	let begin = pastSeparator(bareName, dot < 0 ? bareName.length : dot);
	if (bareName.startsWith("0x", begin))               // a hidden class's number
		begin = pastSeparator(bareName, begin - 1);
	const initials = bareName.slice(0, begin).split(/[/.]/).slice(0, -1)
		.map(p => (p ? String.fromCodePoint(p.codePointAt(0)) : "") + ".");
	const last = bareName.slice(begin);
	return [bareName, initials.join("") + last, last, bareName.slice(dot + 1) || last];
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
	const forms = [bare(name) || name];
	for (let form = forms[0], at; (at = form.indexOf("::")) >= 0 && at + 2 < form.length;) {
		form = form.slice(at + 2);
		forms.push(form);
	}
	return forms;
}

function formsOf(key)
{
	const letter = app.data.kinds[key.kind].letter;
	const shorter = "i1J+*".includes(letter) ? javaForms(key.name) :
		"sCn".includes(letter) ? nativeForms(key.name) : [];
	return [key.name, ...shorter].map(text => ({ text, width: widthOf(text) }));
}

/* The longest form that fits; only the shortest is ever cut. */
function labelOf(key, width)
{
	if (width < 21)
		return "";
	key.forms = key.forms || formsOf(key);
	const fitting = key.forms.find(form => form.width <= width);
	return fitting ? fitting.text : cut(key.forms[key.forms.length - 1].text, width);
}
