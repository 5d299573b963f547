// SPDX-License-Identifier: Apache-2.0
/*
 * Draws the profile anew, as wide as the window, from the data that the file carries; see
 * svg_data.h for its encoding. Without this script, or where the browser cannot inflate, the
 * static picture remains.
 *
 * Zoom redraws: frames too narrow to be seen are left out, those too narrow for a label share one
 * path a colour, and the mouse is resolved by position. Names reach the page through textContent and
 * setAttribute alone, so that nothing in them is ever markup.
 */
"use strict";
(function () {
