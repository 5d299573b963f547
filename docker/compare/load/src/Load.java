// SPDX-License-Identifier: Apache-2.0
import com.thoughtworks.xstream.XStream;
import java.lang.reflect.Field;
import org.apache.jmeter.NewDriver;
import org.apache.jmeter.save.SaveService;
import org.apache.jmeter.util.JMeterUtils;

/**
 * JMeter, started so that it can read its plans.
 *
 * <p>Debian 12 has JMeter 2.13 with XStream 1.4.20, which makes objects of no class that it was not
 * told of; that JMeter is older, tells it of none, and refuses every plan with a
 * ForbiddenClassException. Here it is told. All else is JMeter's own.
 */
public final class Load {
    private static final String[] OWN = {"org.apache.jmeter.**", "org.apache.jorphan.**"};

    private Load() {}

    public static void main(String[] args) throws ReflectiveOperationException {
        // What SaveService reads when it is loaded.
        String home = System.getProperty("jmeter.home");
        JMeterUtils.setJMeterHome(home);
        JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties");
        for (String name : new String[] {"JMXSAVER", "JTLSAVER"}) {
            Field field = SaveService.class.getDeclaredField(name);
            field.setAccessible(true);
            ((XStream) field.get(null)).allowTypesByWildcard(OWN);
        }
        NewDriver.main(args);
    }
}
