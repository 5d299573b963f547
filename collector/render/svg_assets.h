// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the files that are part of every SVG and HTML, as the build put them into the program
 * units:   bytes; terminated
 * threads: any, constants
 * errors:  none
 * source:  svg_app.* and html_*.js, .css in render/page/; CMakeLists.txt makes C of them
 */
#ifndef FG_RENDER_SVG_ASSETS_H
#define FG_RENDER_SVG_ASSETS_H

extern const char svg_app_css[];
extern const char svg_app_js[];
extern const char html_app_css[];
extern const char html_begin_js[];
extern const char html_app_js[];

/* SHA-256 of each text without its terminator, for a page's policy. */
extern const unsigned char svg_app_css_sha256[32];
extern const unsigned char svg_app_js_sha256[32];
extern const unsigned char html_app_css_sha256[32];
extern const unsigned char html_begin_js_sha256[32];
extern const unsigned char html_app_js_sha256[32];

#endif
