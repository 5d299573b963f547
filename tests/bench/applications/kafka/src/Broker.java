// SPDX-License-Identifier: Apache-2.0
import java.util.Arrays;
import java.util.Collections;
import java.util.Properties;
import java.time.Duration;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;

/** A Kafka broker (KRaft) with a producer and a consumer in one process. */
public final class Broker {
    private static final int MESSAGES = 2000;

    public static void main(String[] args) throws Exception {
        String file = args[1];
        kafka.tools.StorageTool.execute(
            new String[] {"format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", file}, System.err);
        Thread broker = new Thread(() -> kafka.Kafka.main(new String[] {file}), "broker");
        broker.setDaemon(true);
        broker.start();
        Thread.sleep(8000);
        Properties common = new Properties();
        common.put("bootstrap.servers", "127.0.0.1:9092");
        Properties consuming = (Properties) common.clone();
        consuming.put("group.id", "readers");
        consuming.put("auto.offset.reset", "earliest");
        String coders = "org.apache.kafka.common.serialization.ByteArray";
        common.put("key.serializer", coders + "Serializer");
        common.put("value.serializer", coders + "Serializer");
        consuming.put("key.deserializer", coders + "Deserializer");
        consuming.put("value.deserializer", coders + "Deserializer");
        KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(common);
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(consuming);
        consumer.subscribe(Collections.singletonList("numbers"));
        Turns.run(args, turn -> {
            byte[] value = new byte[200];
            Arrays.fill(value, (byte) turn);
            for (int i = 0; i < MESSAGES; i++)
                producer.send(new ProducerRecord<>("numbers", value));
            producer.flush();
            consumer.poll(Duration.ofMillis(1)).forEach(record -> { });
        });
    }
}
