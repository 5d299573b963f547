// SPDX-License-Identifier: Apache-2.0
/* What label.js needs to know of the page: its font, and which names are of what language. */
const pen = document.createElement("canvas").getContext("2d");
const FONT = "Verdana, \"DejaVu Sans\", sans-serif";

function widthOf(text)
{
	return pen.measureText(text).width;
}

function languageOf(key)
{
	const letter = app.data.kinds[key.kind].letter;
	return "i1J+*".includes(letter) ? "java" : letter === "o" ? "class" :
		"sCn".includes(letter) ? "native" : "none";
}

function labelOf(key, width)
{
	if (width < 21)
		return "";
	key.forms = key.forms || formsOf(key.name, languageOf(key));
	return longestOf(key.forms, width);
}
