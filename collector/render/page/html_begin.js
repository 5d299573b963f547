// SPDX-License-Identifier: Apache-2.0
/*
 * Unpacks the page's script, which is there as its data is: compressed, it takes a third of the room
 * that it takes as text. The policy allows this script and that one, each by its own hash.
 */
"use strict";

async function inflate(base64)
{
	const text = atob(base64);
	const packed = new Uint8Array(text.length);
	for (let i = 0; i < packed.length; i++)
		packed[i] = text.charCodeAt(i);
	const stream = new Response(packed).body.pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

function cannotShow(error)
{
	const said = document.createElement("p");
	said.className = "failed";
	said.setAttribute("role", "alert");
	said.append("This flame graph cannot be shown: " + error.message + ". " +
		(self.DecompressionStream ? "The file may have been cut short: copy it again." :
		"The browser cannot inflate: use one from 2023 or later."));
	document.body.append(said);
}

async function begin()
{
	const script = document.createElement("script");
	script.textContent = new TextDecoder().decode(await inflate(document.getElementById("fg-script").textContent));
	document.body.append(script);
}

begin().catch(cannotShow);
