// SPDX-License-Identifier: Apache-2.0
package shop;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.Id;
import java.util.List;
import org.springframework.boot.CommandLineRunner;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;

/** Spring Boot with JPA on H2 and Thymeleaf: a page and a JSON list of what a shop has. */
@SpringBootApplication
@Controller
public class Shop implements CommandLineRunner {
    private final Items items;

    public Shop(Items items) {
        this.items = items;
    }

    public static void main(String[] args) {
        SpringApplication.run(Shop.class, args);
    }

    @Override
    public void run(String... args) {
        for (int i = 0; i < 500; i++)
            items.save(new Item("item " + i, "kind " + i % 17, i * 37 % 1000));
        System.out.println("ready");
    }

    @GetMapping("/items")
    public String page(@RequestParam(defaultValue = "kind 3") String kind, Model model) {
        model.addAttribute("items", items.findByKindOrderByPrice(kind));
        return "items";
    }

    @GetMapping("/items.json")
    @ResponseBody
    public List<Item> list(@RequestParam(defaultValue = "kind 3") String kind) {
        return items.findByKindOrderByPrice(kind);
    }
}

interface Items extends JpaRepository<Item, Long> {
    List<Item> findByKindOrderByPrice(String kind);
}

@Entity
class Item {
    @Id
    @GeneratedValue
    private Long id;
    private String name;
    private String kind;
    private int price;

    protected Item() {
    }

    Item(String name, String kind, int price) {
        this.name = name;
        this.kind = kind;
        this.price = price;
    }

    public Long getId() {
        return id;
    }

    public String getName() {
        return name;
    }

    public String getKind() {
        return kind;
    }

    public int getPrice() {
        return price;
    }
}
