const prefix = "runnel.kept.";

/** Reads a value of this tab; null if there is none or storage is blocked. */
export function readSessionValue(name: string): string | null {
  try {
    return sessionStorage.getItem(prefix + name);
  } catch {
    return null;
  }
}

/** Stores a text in this tab across reloads; null removes it. */
export function writeSessionValue(name: string, text: string | null): void {
  try {
    if (text === null) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, text);
  } catch {
    // Storage is blocked or full: the text lasts until its page is left.
  }
}

/** Removes all values whose names start with `begin`. */
export function removeSessionValue(begin: string): void {
  try {
    for (const key of Object.keys(sessionStorage)) if (key.startsWith(prefix + begin)) sessionStorage.removeItem(key);
  } catch {
    // Storage is blocked: nothing was stored.
  }
}
