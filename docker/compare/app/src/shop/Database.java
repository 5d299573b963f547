// SPDX-License-Identifier: Apache-2.0
package shop;

import jakarta.servlet.ServletContextEvent;
import jakarta.servlet.ServletContextListener;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.apache.tomcat.jdbc.pool.DataSource;
import org.apache.tomcat.jdbc.pool.PoolProperties;

/**
 * The shop's database: waited for when the application starts, filled if it is empty, and lent out
 * by a pool of connections.
 *
 * <p>From the environment: SHOP_DRIVER, SHOP_URL, SHOP_USER, SHOP_PASSWORD, SHOP_POOL (connections)
 * and SHOP_WAIT_SECONDS. If there is no database after so many seconds the JVM ends, and its last
 * line says why.
 */
public final class Database implements ServletContextListener {
    static final int ITEMS = 10_000;
    static final int CATEGORIES = 100;

    private static final int BATCH = 1_000;
    private static final int SAY_EVERY_SECONDS = 5;
    private static final String[] TABLES = {
        "create table if not exists item (id integer primary key, category integer not null,"
            + " name varchar(60) not null, price integer not null, stock integer not null)",
        "create table if not exists sale (id integer generated always as identity primary key,"
            + " item integer not null references item (id), amount integer not null,"
            + " sold_at timestamp not null default current_timestamp)",
        "create index if not exists item_category on item (category)",
    };

    private static volatile DataSource pool;

    static Connection connection() throws SQLException {
        return pool.getConnection();
    }

    @Override
    public void contextInitialized(ServletContextEvent event) {
        String url = setting("SHOP_URL", "jdbc:h2:mem:shop;DB_CLOSE_DELAY=-1");
        pool = newPool(url);
        try {
            awaitDatabase(url, number("SHOP_WAIT_SECONDS", "60"));
            fill();
        } catch (SQLException | InterruptedException e) {
            // Tomcat would go on without the application; nobody would know until the first request.
            System.out.println("shop: no database at " + url + ": " + oneLine(e));
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    @Override
    public void contextDestroyed(ServletContextEvent event) {
        pool.close();
    }

    private static DataSource newPool(String url) {
        PoolProperties properties = new PoolProperties();
        int connections = number("SHOP_POOL", "16");
        properties.setDriverClassName(setting("SHOP_DRIVER", "org.h2.Driver"));
        properties.setUrl(url);
        properties.setUsername(setting("SHOP_USER", "sa"));
        properties.setPassword(setting("SHOP_PASSWORD", ""));
        properties.setInitialSize(0);
        properties.setMinIdle(1);
        properties.setMaxActive(connections);
        properties.setMaxIdle(connections);
        properties.setMaxWait(10_000);
        return new DataSource(properties);
    }

    private static void awaitDatabase(String url, int seconds)
        throws SQLException, InterruptedException {
        long start = System.nanoTime();
        for (long say = 0; ; Thread.sleep(100)) {
            try {
                connection().close();
                long waited = (System.nanoTime() - start) / 1_000_000;
                System.out.printf("shop: the database answered after %.1f s%n", waited / 1000.0);
                return;
            } catch (SQLException e) {
                long waited = (System.nanoTime() - start) / 1_000_000_000;
                if (waited >= say) {
                    System.out.println("shop: waiting for the database, " + waited + " of "
                        + seconds + " s: " + oneLine(e));
                    say = waited + SAY_EVERY_SECONDS;
                }
                if (waited >= seconds)
                    throw new SQLException("not there after " + waited + " s: " + oneLine(e), e);
            }
        }
    }

    private static void fill() throws SQLException {
        try (Connection connection = connection(); Statement statement = connection.createStatement()) {
            for (String table : TABLES)
                statement.execute(table);
            if (isEmpty(statement))
                insertItems(connection);
        }
    }

    private static boolean isEmpty(Statement statement) throws SQLException {
        try (ResultSet rows = statement.executeQuery("select count(*) from item")) {
            return !rows.next() || rows.getInt(1) == 0;
        }
    }

    private static void insertItems(Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        try (PreparedStatement insert = connection.prepareStatement(
                 "insert into item (id, category, name, price, stock) values (?, ?, ?, ?, ?)")) {
            for (int id = 1; id <= ITEMS; id++) {
                insert.setInt(1, id);
                insert.setInt(2, id % CATEGORIES);
                insert.setString(3, "Item <" + id + "> & Co");
                insert.setInt(4, 100 + id * 7919 % 9_900);
                insert.setInt(5, 1_000_000);
                insert.addBatch();
                if (id % BATCH == 0)
                    insert.executeBatch();
            }
            insert.executeBatch();
            connection.commit();
        } finally {
            connection.setAutoCommit(true);
        }
    }

    private static String oneLine(Throwable error) {
        return String.valueOf(error.getMessage()).replaceAll("\\s+", " ");
    }

    private static String setting(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    private static int number(String name, String otherwise) {
        return Integer.parseInt(setting(name, otherwise));
    }
}
