const prefix = "runnel.kept.";

/** What was kept in this tab under a name; null for nothing, or where storage is forbidden. */
export function readKept(name: string): string | null {
  try {
    return sessionStorage.getItem(prefix + name);
  } catch {
    return null;
  }
}

/** Keeps a text in this tab, over reloads; null forgets it. */
export function writeKept(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, text);
  } catch {
    // Storage is forbidden or full: the text holds until its page is left.
  }
}

/** Forgets all whose names begin so. */
export function forgetKept(begin: string): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix + begin)) sessionStorage.removeItem(key);
  } catch {
    // Storage is forbidden: nothing was kept.
  }
}
