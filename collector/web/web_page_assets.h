// SPDX-License-Identifier: Apache-2.0
/*
 * shape:   files of page/ -> texts in the program; CMakeLists.txt makes them
 * units:   none
 * threads: any, constants
 * errors:  none
 * source:  none
 */
#ifndef FG_WEB_WEB_PAGE_ASSETS_H
#define FG_WEB_WEB_PAGE_ASSETS_H

extern const char web_page_css[], web_page_js[];
extern const unsigned char web_page_css_sha256[32], web_page_js_sha256[32];

#endif
