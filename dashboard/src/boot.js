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
  // A new tab begins where the last one was. From then on the choice is its own: another tab's may not turn it.
  for (const key of ["runnel.mode", "runnel.project"]) {
    const choice = read("sessionStorage", key) ?? read("localStorage", key) ?? (key === "runnel.mode" ? "test" : null);
    try {
      if (choice !== null) window.sessionStorage.setItem(key, choice);
    } catch {
      // Forbidden or full: the defaults are fine then.
    }
  }
  const theme = read("localStorage", "runnel.theme");
  const mode = read("sessionStorage", "runnel.mode");
  const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = theme === "dark" || theme === "light" ? theme : systemDark ? "dark" : "light";
  root.dataset.mode = mode === "live" ? "live" : "test";
})();
