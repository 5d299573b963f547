// SPDX-License-Identifier: Apache-2.0
/* JSON strings by jansson, see json.h. */
#include "encode/json.h"

#include "encode/text.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

void json_out_text(struct json_out *out, const char *text)
{
	json_t *string;

	if (!text) {
		fputs("null", out->stream);
		return;
	}
	out->text.len = 0;
	text_clean(&out->text, text, UTF8_REPLACEMENT);
	string = json_stringn(bytes_text(&out->text), out->text.len);
	if (!string || out->text.failed ||
	    json_dumpf(string, out->stream, JSON_ENCODE_ANY | JSON_COMPACT) < 0)
		out->failed = true;
	json_decref(string);
}

int json_out_fini(struct json_out *out)
{
	bytes_fini(&out->text);
	if (ferror(out->stream))
		return errno ? -errno : -EIO;
	return out->failed ? -ENOMEM : 0;
}
