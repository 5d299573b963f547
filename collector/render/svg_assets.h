// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   the files that go into every SVG, as the build put them into the program
 * units:   bytes; terminated
 * threads: any, constants
 * errors:  none
 * source:  svg_app.css and svg_app.js beside this file; CMakeLists.txt makes the C of them
 */
#ifndef FG_RENDER_SVG_ASSETS_H
#define FG_RENDER_SVG_ASSETS_H

extern const char svg_app_css[];
extern const char svg_app_js[];

#endif
