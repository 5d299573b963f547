// SPDX-License-Identifier: Apache-2.0
package shop;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;

/** Parameters of requests that have to be whole numbers. */
final class Numbers {
    private Numbers() {}

    static int of(HttpServletRequest request, String name) throws ServletException {
        String text = request.getParameter(name);
        try {
            return Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new ServletException(name + " is no whole number: " + text, e);
        }
    }
}
