import { readPreference, writePreference } from "../../lib/preference.ts";
import type { Workspace } from "../../lib/workspace.ts";
import { pushRecent, type Recent } from "./push-recent.ts";

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
