import { useMemo } from "react";
import { type RunsSearch, viewOf } from "../../entities/run/runs-search.ts";
import { usePreferenceText } from "../../lib/preference.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { readRunsSearch } from "./read-runs-search.ts";

/** A list of runs under a name. */
interface View {
  name: string;
  search: RunsSearch;
}

const most = 20;

/** The views of a text that was kept; none of a text that is none. */
export function readViews(text: string): View[] {
  try {
    const kept: unknown = JSON.parse(text);
    return Array.isArray(kept) ? kept.flatMap(readView) : [];
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

/** The views with this one, in the place of another one of its name. */
export const withView = (views: readonly View[], view: View): View[] =>
  [view, ...views.filter(({ name }) => name !== view.name)].slice(0, most);

/** The views that were saved in this browser for this project and mode. */
export function useViews() {
  const { projectId, mode } = useWorkspace();
  const [text, setText] = usePreferenceText(`views.${projectId}.${mode}`, "[]");
  const views = useMemo(() => readViews(text), [text]);
  const keep = (next: readonly View[]) => setText(JSON.stringify(next));
  return {
    views,
    save: (name: string, search: RunsSearch) => keep(withView(views, { name, search: viewOf(search) })),
    remove: (gone: string) => keep(views.filter(({ name }) => name !== gone)),
  };
}
