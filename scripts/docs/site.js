// The documentation's own script: the theme before the first paint, then search, tabs and copy buttons.
(() => {
  const root = document.documentElement;
  const stored = (key) => {
    try {
      return localStorage.getItem(key);
    } catch {
      return null; // Storage can be forbidden; the defaults are fine then.
    }
  };
  const store = (key, value) => {
    try {
      localStorage.setItem(key, value);
    } catch {
      // Forbidden or full: the choice lasts for this page.
    }
  };
  // The same choice as the dashboard's.
  const theme = stored("runnel.theme");
  const dark = theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  root.dataset.theme = dark ? "dark" : "light";

  document.addEventListener("DOMContentLoaded", () => {
    for (const part of document.querySelectorAll("header [hidden]:not(#found)")) part.hidden = false;
    setUpTheme();
    setUpMenu();
    setUpTabs();
    setUpCopy();
    setUpSearch();
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest" });
  });

  function setUpTheme() {
    const button = document.getElementById("theme");
    const paint = (value) => {
      root.dataset.theme = value;
      button.setAttribute("aria-label", `Switch to ${value === "dark" ? "light" : "dark"}`);
    };
    paint(root.dataset.theme);
    button.addEventListener("click", () => {
      paint(root.dataset.theme === "dark" ? "light" : "dark");
      store("runnel.theme", root.dataset.theme);
    });
    // Another page, or the dashboard, was switched meanwhile.
    addEventListener("storage", ({ key, newValue }) => {
      if (key === "runnel.theme" && /^(light|dark)$/.test(newValue)) paint(newValue);
    });
    // Paper is light.
    let before = root.dataset.theme;
    addEventListener("beforeprint", () => {
      before = root.dataset.theme;
      root.dataset.theme = "light";
    });
    addEventListener("afterprint", () => paint(before));
  }

  /** On a narrow page the button shows the side bar over the page, which cannot be reached meanwhile. */
  function setUpMenu() {
    const menu = document.getElementById("menu");
    const content = document.getElementById("content");
    const show = (open) => {
      document.body.classList.toggle("menu-open", open);
      menu.setAttribute("aria-expanded", String(open));
      content.inert = open;
      if (open) document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "center" });
    };
    menu.addEventListener("click", () => show(!document.body.classList.contains("menu-open")));
    document.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !document.body.classList.contains("menu-open")) return;
      show(false);
      menu.focus();
    });
    matchMedia("(max-width: 52rem)").addEventListener("change", () => show(false));
    addEventListener("pageshow", () => show(false)); // A page that the browser kept comes back without it.
  }

  function setUpTabs() {
    const groups = [...document.querySelectorAll(".tabs")];
    const show = (language) => {
      for (const group of groups) {
        const sections = [...group.querySelectorAll("section")];
        const shown = sections.find((section) => section.dataset.language === language) ?? sections[0];
        for (const section of sections) section.hidden = section !== shown;
        for (const tab of group.querySelectorAll("[role=tab]")) {
          const selected = tab.dataset.language === shown.dataset.language;
          tab.setAttribute("aria-selected", String(selected));
          tab.tabIndex = selected ? 0 : -1;
        }
      }
    };
    groups.forEach((group, number) => {
      const list = document.createElement("div");
      list.setAttribute("role", "tablist");
      list.setAttribute("aria-label", "Language");
      for (const section of group.querySelectorAll("section")) {
        const name = section.querySelector(".language");
        const tab = document.createElement("button");
        tab.type = "button";
        tab.setAttribute("role", "tab");
        tab.dataset.language = section.dataset.language;
        tab.textContent = name.textContent;
        section.id = `code-${number}-${section.dataset.language}`;
        section.setAttribute("role", "tabpanel");
        section.setAttribute("aria-label", name.textContent);
        tab.setAttribute("aria-controls", section.id);
        name.remove();
        tab.addEventListener("click", () => {
          store("runnel.docs.language", tab.dataset.language);
          show(tab.dataset.language);
        });
        list.append(tab);
      }
      list.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step) return;
        const tabs = [...list.children];
        const next = tabs.at((tabs.indexOf(document.activeElement) + step) % tabs.length);
        next.focus();
        next.click();
      });
      group.prepend(list);
    });
    show(stored("runnel.docs.language") ?? "bash");
  }

  function setUpCopy() {
    if (!navigator.clipboard) return; // Only secure pages may write to it.
    for (const block of document.querySelectorAll("pre")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.addEventListener("click", async () => {
        const copied = await navigator.clipboard.writeText(block.textContent).then(
          () => true,
          () => false,
        );
        button.textContent = copied ? "Copied" : "Not copied";
        setTimeout(() => {
          button.textContent = "Copy";
        }, 2000);
      });
      const around = document.createElement("div");
      around.className = "code";
      block.replaceWith(around);
      around.append(block, button);
    }
  }

  function setUpSearch() {
    const input = document.getElementById("query");
    const list = document.getElementById("found");
    let finder;
    let chosen = -1;
    const load = () => {
      finder ??= Promise.all([script("/docs/search.js"), fetch("/docs/search.json")]).then(async ([, response]) =>
        window.runnelDocsFinder(await response.text()),
      );
      return finder;
    };
    const close = () => {
      list.hidden = true;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    };
    const choose = (index) => {
      const items = [...list.querySelectorAll("a")];
      // What was chosen among earlier results may be gone.
      if (items.length === 0) return input.removeAttribute("aria-activedescendant");
      chosen = (index + items.length) % items.length;
      for (const [at, item] of items.entries()) item.setAttribute("aria-selected", String(at === chosen));
      input.setAttribute("aria-activedescendant", items[chosen].id);
      items[chosen].scrollIntoView({ block: "nearest" });
    };
    const find = async () => {
      const query = input.value;
      if (query.trim() === "") return close();
      const pagesWith = await load();
      if (input.value !== query) return; // Typed on meanwhile.
      const found = pagesWith(query).slice(0, 8);
      list.replaceChildren(...found.map(itemOf));
      if (found.length === 0) {
        const none = document.createElement("p");
        none.setAttribute("role", "option");
        none.setAttribute("aria-disabled", "true");
        none.textContent = `No page has “${query}”.`;
        list.append(none);
      }
      list.hidden = false;
      input.setAttribute("aria-expanded", "true");
      choose(0);
    };
    input.addEventListener("focus", () => void load());
    input.addEventListener("input", () => void find());
    input.addEventListener("blur", close);
    list.addEventListener("mousedown", (event) => event.preventDefault()); // The input keeps the focus until the click.
    input.addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen - 1);
      else if (event.key === "Enter") list.querySelector("[aria-selected=true]")?.click();
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    });
    document.addEventListener("keydown", (event) => {
      if (event.key !== "/" || /^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) return;
      event.preventDefault();
      input.focus();
    });
  }

  /** Loads a script, once: only readers who search need it. */
  function script(source) {
    return new Promise((resolve, reject) => {
      const element = document.createElement("script");
      element.src = source;
      element.addEventListener("load", resolve);
      element.addEventListener("error", reject);
      document.head.append(element);
    });
  }

  function itemOf({ path, title, matches }, index) {
    const link = document.createElement("a");
    link.id = `found-${index}`;
    link.setAttribute("role", "option");
    link.href = path === "" ? "/docs" : `/docs/${path}`;
    link.tabIndex = -1;
    const name = document.createElement("strong");
    name.textContent = title;
    const excerpt = document.createElement("span");
    void textOf(path).then((text) => excerpt.append(...excerptOf(text, matches)));
    const group = document.createElement("small");
    group.textContent = groupOf(path);
    name.append(group);
    link.append(name, excerpt);
    return link;
  }

  const texts = new Map();

  /** The text of a page, fetched once. */
  function textOf(path) {
    if (!texts.has(path))
      texts.set(
        path,
        fetch(`/docs/search/${path || "index"}.txt`).then((response) => response.text()),
      );
    return texts.get(path);
  }

  /** Where a page is: `guides/streaming` is of the Guides, `reference/api/runs.create` of the API. */
  function groupOf(path) {
    const place = path.split("/").slice(0, -1).at(-1) ?? "";
    return place === "api" ? "API" : place.charAt(0).toUpperCase() + place.slice(1);
  }

  /** The words around the first place of a matching one, which is marked. */
  function excerptOf(text, matches) {
    const lower = text.toLowerCase();
    const word = matches.find((match) => lower.includes(match));
    if (!word) return [text.slice(0, 120)];
    const at = lower.indexOf(word);
    const from = at < 30 ? 0 : text.indexOf(" ", at - 30) + 1;
    const begin = Math.min(from, at);
    const mark = document.createElement("mark");
    mark.textContent = text.slice(at, at + word.length);
    return [(begin > 0 ? "… " : "") + text.slice(begin, at), mark, text.slice(at + word.length, at + 110)];
  }
})();
