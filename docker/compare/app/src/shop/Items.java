// SPDX-License-Identifier: Apache-2.0
package shop;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** GET /items?category=N: the items of a category, the cheapest first, as a page. */
public final class Items extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final String QUERY =
        "select id, name, price, stock from item where category = ? order by price, id";

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
        int category = Numbers.of(request, "category");
        StringBuilder page = new StringBuilder("<!DOCTYPE html><table>\n");
        try (Connection connection = Database.connection();
             PreparedStatement select = connection.prepareStatement(QUERY)) {
            select.setInt(1, category);
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next())
                    addRow(page, rows);
            }
        } catch (SQLException e) {
            throw new ServletException(e);
        }
        response.setContentType("text/html;charset=UTF-8");
        PrintWriter out = response.getWriter();
        out.append(page).append("</table>\n");
    }

    private static void addRow(StringBuilder page, ResultSet row) throws SQLException {
        page.append("<tr><td>").append(row.getInt("id"));
        page.append("<td>").append(escape(row.getString("name")));
        page.append(String.format("<td>%.2f", row.getInt("price") / 100.0));
        page.append("<td>").append(row.getInt("stock")).append('\n');
    }

    private static String escape(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }
}
