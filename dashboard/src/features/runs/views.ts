import { useMemo } from "react";
import { type RunsSearch, viewOf } from "../../entities/run/runs-search.ts";
import { usePreferenceText } from "../../lib/local-storage.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { readRunsSearch } from "./read-runs-search.ts";

/** A saved view of the run list. */
interface View {
  name: string;
  search: RunsSearch;
}

const most = 20;

/** Parses stored views; empty if the text is invalid. */
export function readViews(text: string): View[] {
  try {
    const stored: unknown = JSON.parse(text);
    return Array.isArray(stored) ? stored.flatMap(readView) : [];
  } catch {
    return [];
  }
}

function readView(kept: unknown): View[] {
  const { name, search } = (kept ?? {}) as Partial<Record<keyof View, unknown>>;
  return typeof name === "string" && typeof search === "object" && search !== null
    ? [{ name, search: readRunsSearch(search as Record<string, unknown>) }]
    : [];
}

/** Adds a view, replacing the one with the same name. */
export const withView = (views: readonly View[], view: View): View[] =>
  [view, ...views.filter(({ name }) => name !== view.name)].slice(0, most);

/** Views saved in this browser for this workspace. */
export function useViews() {
  const { projectId, mode } = useWorkspace();
  const [text, setText] = usePreferenceText(`views.${projectId}.${mode}`, "[]");
  const views = useMemo(() => readViews(text), [text]);
  const keep = (next: readonly View[]) => setText(JSON.stringify(next));
  return {
    views,
    save: (name: string, search: RunsSearch) => keep(withView(views, { name, search: viewOf(search) })),
    remove: (viewName: string) => keep(views.filter(({ name }) => name !== viewName)),
  };
}
