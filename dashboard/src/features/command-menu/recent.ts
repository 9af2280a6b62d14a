import { readPreference, writePreference } from "../../lib/local-storage.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** Returns the recently viewed objects of this project and mode, the latest first. */
export function readRecent(at: Workspace): Recent[] {
  try {
    const stored: unknown = JSON.parse(readPreference(storageKey(at)) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isRecent) : [];
  } catch {
    return [];
  }
}

/** Stores an object as the most recent one. */
export function rememberRecent(at: Workspace, recent: Recent): void {
  const before = readRecent(at);
  const after = pushRecent(before, recent);
  if (after !== before) writePreference(storageKey(at), JSON.stringify(after));
}

const storageKey = ({ projectId, mode }: Workspace): string => `recent.${projectId}.${mode}`;

const isRecent = (value: unknown): value is Recent =>
  typeof value === "object" && value !== null && "path" in value && typeof value.path === "string" && "title" in value;

/** A recently viewed object. */
interface Recent {
  path: string;
  title: string;
}

const maxRecent = 8;

/** Returns the list with this object first and no duplicates. Returns the same list if nothing changes. */
export function pushRecent(list: Recent[], recent: Recent): Recent[] {
  const [head] = list;
  if (head?.path === recent.path && head.title === recent.title) return list;
  return [recent, ...list.filter(({ path }) => path !== recent.path)].slice(0, maxRecent);
}
