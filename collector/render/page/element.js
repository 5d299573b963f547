// SPDX-License-Identifier: Apache-2.0
/* Elements of a page. Texts are children and attributes alone, so that nothing in them is ever markup. */

function element(tag, attributes, ...children)
{
	const made = document.createElement(tag);
	for (const name in attributes)
		made.setAttribute(name, attributes[name]);
	made.append(...children);
	return made;
}
