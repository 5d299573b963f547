// SPDX-License-Identifier: Apache-2.0
package shop;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/** POST /sale with item and amount: takes from the stock and books the sale, both or neither. */
public final class Sale extends HttpServlet {
    private static final long serialVersionUID = 1;

    @Override
    protected void doPost(HttpServletRequest request, HttpServletResponse response)
        throws IOException, ServletException {
        int item = Numbers.of(request, "item");
        int amount = Numbers.of(request, "amount");
        try (Connection connection = Database.connection()) {
            connection.setAutoCommit(false);
            try {
                change(connection, "update item set stock = stock - ? where id = ?", amount, item);
                change(connection, "insert into sale (amount, item) values (?, ?)", amount, item);
                connection.commit();
            } catch (SQLException e) {
                connection.rollback();
                throw e;
            } finally {
                connection.setAutoCommit(true);
            }
        } catch (SQLException e) {
            throw new ServletException(e);
        }
        response.setContentType("text/plain;charset=UTF-8");
        response.getWriter().println("sold " + amount + " of " + item);
    }

    private static void change(Connection connection, String sql, int amount, int item)
        throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setInt(1, amount);
            statement.setInt(2, item);
            if (statement.executeUpdate() != 1)
                throw new SQLException("there is no item " + item);
        }
    }
}
