import { readPreference, writePreference } from "../../lib/preference.ts";
import type { Workspace } from "../../lib/workspace.ts";

/** The objects of this project and mode that were looked at last, the latest first. */
export function readRecent(at: Workspace): Recent[] {
  try {
    const kept: unknown = JSON.parse(readPreference(nameOf(at)) ?? "[]");
    return Array.isArray(kept) ? kept.filter(isRecent) : [];
  } catch {
    return [];
  }
}

/** Puts an object at the head of them. */
export function rememberRecent(at: Workspace, recent: Recent): void {
  const before = readRecent(at);
  const after = pushRecent(before, recent);
  if (after !== before) writePreference(nameOf(at), JSON.stringify(after));
}

const nameOf = ({ projectId, mode }: Workspace): string => `recent.${projectId}.${mode}`;

const isRecent = (value: unknown): value is Recent =>
  typeof value === "object" && value !== null && "path" in value && typeof value.path === "string" && "title" in value;

/** An object that was looked at. */
interface Recent {
  path: string;
  title: string;
}

const most = 8;

/** The list with this object at its head, each only once. The same list when nothing changes. */
export function pushRecent(list: Recent[], recent: Recent): Recent[] {
  const [head] = list;
  if (head?.path === recent.path && head.title === recent.title) return list;
  return [recent, ...list.filter(({ path }) => path !== recent.path)].slice(0, most);
}
