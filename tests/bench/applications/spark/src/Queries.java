// SPDX-License-Identifier: Apache-2.0
import org.apache.spark.sql.SparkSession;

/** Spark SQL in one process: queries over rows that were made up, whose code it generates. */
public final class Queries {
    public static void main(String[] args) throws Exception {
        SparkSession spark = SparkSession.builder().master("local[2]").appName("queries")
            .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4")
            .config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.local.dir", "/tmp").config("spark.sql.warehouse.dir", "/tmp/warehouse")
            .getOrCreate();
        spark.sparkContext().setLogLevel("ERROR");
        spark.range(400_000).selectExpr("id", "id % 997 as kind", "id * 31 % 1009 as price",
                                        "concat('name ', id % 53) as name")
            .createOrReplaceTempView("items");
        Turns.run(args, turn -> query(spark, turn));
    }

    private static void query(SparkSession spark, long turn) {
        spark.sql("select name, count(*) as n, sum(price) as total, avg(price + " + turn % 7
                  + ") as mean from items where kind > " + turn % 100
                  + " group by name order by total desc").collectAsList();
        spark.sql("select a.name, max(b.price) from items a join items b on a.id = b.id + "
                  + (1 + turn % 5) + " where a.kind < 90 group by a.name").collectAsList();
    }
}
