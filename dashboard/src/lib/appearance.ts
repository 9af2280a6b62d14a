import type { Environment as Mode } from "../../../server/domain/scope.ts";
import { readPreference } from "./local-storage.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

/** Stored theme, resolved to light or dark. */
function resolvedTheme(): "light" | "dark" {
  const theme = readPreference("theme");
  if (theme === "light" || theme === "dark") return theme;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

/** Applies theme and mode to the page, the browser's bar and the favicon. */
export function paint(mode: Mode): void {
  const root = document.documentElement;
  root.dataset.theme = resolvedTheme();
  root.dataset.mode = mode;
  const style = getComputedStyle(root);
  document.querySelector('meta[name="theme-color"]')?.setAttribute("content", style.getPropertyValue("--shell"));
  const icon = favicon(style.getPropertyValue("--accent"), style.getPropertyValue("--mode"));
  document.querySelector('link[rel="icon"]')?.setAttribute("href", icon);
}

function favicon(line: string, dot: string): string {
  const waves = `<path d="M2 7c3-3 6-3 9 0s6 3 9 0M2 15c3-3 6-3 9 0s6 3 9 0" fill="none" stroke="${line}" stroke-width="2.4" stroke-linecap="round"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 22">${waves}<circle cx="18" cy="18" r="4" fill="${dot}"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
