// Runs before the first paint, so that theme and mode never flash wrongly.
(() => {
  const root = document.documentElement;
  const read = (key) => {
    try {
      return window.localStorage.getItem(key);
    } catch {
      return null; // Storage may be blocked; the defaults apply.
    }
  };
  // Reads the workspace of the address, otherwise the last one used.
  const [, place = read("runnel.workspace") ?? ""] =
    /^\/dashboard\/(proj_[^/]+(?:\/[^/]*)?)/.exec(location.pathname) ?? [];
  const theme = read("runnel.theme");
  const systemDark = matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = theme === "dark" || theme === "light" ? theme : systemDark ? "dark" : "light";
  root.dataset.mode = place.endsWith("/live") ? "live" : "test";
})();
