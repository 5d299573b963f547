// SPDX-License-Identifier: Apache-2.0
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StringField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.queryparser.classic.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.store.ByteBuffersDirectory;

/** Lucene: indexes texts of a made-up language and searches them, again and again. */
public final class Searches {
    private static final String[] WORDS = new String[5000];
    private static long found;

    public static void main(String[] args) throws Exception {
        Random random = new Random(42);
        for (int i = 0; i < WORDS.length; i++)
            WORDS[i] = Long.toString(Math.abs(random.nextLong()) % 100_000_000, 36);
        Turns.run(args, turn -> search(new Random(turn)));
    }

    private static void search(Random random) throws Exception {
        try (ByteBuffersDirectory directory = new ByteBuffersDirectory()) {
            try (IndexWriter writer = new IndexWriter(
                     directory, new IndexWriterConfig(new StandardAnalyzer()))) {
                for (int i = 0; i < 200; i++)
                    writer.addDocument(document(random, i));
            }
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                IndexSearcher searcher = new IndexSearcher(reader);
                QueryParser parser = new QueryParser("text", new StandardAnalyzer());
                for (int i = 0; i < 100; i++)
                    found += searcher.search(parser.parse(query(random, i)), 10).totalHits.value;
            }
        }
    }

    private static Document document(Random random, int number) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 120; i++)
            text.append(word(random)).append(' ');
        Document document = new Document();
        document.add(new StringField("id", Integer.toString(number), Field.Store.YES));
        document.add(new TextField("text", text.toString(), Field.Store.NO));
        return document;
    }

    private static String query(Random random, int number) {
        String word = word(random);
        switch (number % 4) {
        case 0:
            return word + " OR " + word(random);
        case 1:
            return "+" + word + " -" + word(random);
        case 2:
            return "\"" + word + " " + word(random) + "\"~20";
        default:
            return word.substring(0, Math.min(2, word.length())) + "*";
        }
    }

    private static String word(Random random) {
        return WORDS[(int) (WORDS.length * Math.pow(random.nextDouble(), 3))];
    }
}
