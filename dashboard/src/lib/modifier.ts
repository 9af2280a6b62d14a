const isMac = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? "");

/** Formats a shortcut with this machine's ⌘ or Ctrl: `⌘K`, `Ctrl K`. */
export const withModifier = (key: string): string => (isMac ? `⌘${key}` : `Ctrl ${key}`);
