// SPDX-License-Identifier: Apache-2.0
package shop;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** GET /report: what the stock of each category is worth, worked out by the database. */
public final class Report extends HttpServlet {
    private static final long serialVersionUID = 1;
    private static final String QUERY =
        "select category, count(*), sum(cast(price as bigint) * stock) from item"
            + " group by category order by category";

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
        StringBuilder lines = new StringBuilder();
        try (Connection connection = Database.connection();
             Statement statement = connection.createStatement();
             ResultSet rows = statement.executeQuery(QUERY)) {
            while (rows.next())
                lines.append(rows.getInt(1)).append(',').append(rows.getLong(2)).append(',')
                    .append(rows.getBigDecimal(3)).append('\n');
        } catch (SQLException e) {
            throw new ServletException(e);
        }
        response.setContentType("text/csv;charset=UTF-8");
        PrintWriter out = response.getWriter();
        out.append("category,items,cents\n").append(lines);
    }
}
