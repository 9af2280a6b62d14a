// Runs before the first paint: a page that starts light and turns dark, or starts in test and turns live, misleads.
(() => {
  const root = document.documentElement;
  const read = (store, key) => {
    try {
      return window[store].getItem(key);
    } catch {
      return null; // Storage can be forbidden; the defaults are fine then.
    }
  };
  const theme = read("localStorage", "runnel.theme");
  const mode = read("sessionStorage", "runnel.mode") ?? read("localStorage", "runnel.mode");
  const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = theme === "dark" || theme === "light" ? theme : systemDark ? "dark" : "light";
  root.dataset.mode = mode === "live" ? "live" : "test";
})();
