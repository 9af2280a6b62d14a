// Runs before the first paint: a page that starts light and turns dark, or starts in test and turns live, misleads.
(() => {
  const root = document.documentElement;
  const read = (key) => {
    try {
      return window.localStorage.getItem(key);
    } catch {
      return null; // Storage can be forbidden; the defaults are fine then.
    }
  };
  // The address says it; one that says nothing leads to where somebody was last.
  const [, place = read("runnel.workspace") ?? ""] =
    /^\/dashboard\/(proj_[^/]+(?:\/[^/]*)?)/.exec(location.pathname) ?? [];
  const theme = read("runnel.theme");
  const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = theme === "dark" || theme === "light" ? theme : systemDark ? "dark" : "light";
  root.dataset.mode = place.endsWith("/live") ? "live" : "test";
})();
