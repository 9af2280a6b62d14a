import type { Environment as Mode } from "../../../server/core/scope.ts";

// An address says which project it is of, and whether its test or its live data: `/proj_…/live/runs`. The routes know only
// `/runs`, so that each page is written once: to them, project and mode are a parameter that every link hands on.

/** What of a workspace an address holds. */
export interface Place {
  projectId: string;
  mode: Mode;
}

/** The parameter, as the routes see it. */
export interface WorkspaceSearch {
  workspace?: string;
}

const begin = /^\/(proj_[^/]+)(?:\/(test|live))?(?=\/|$)/;

/** The parameter's text. */
export const writePlace = ({ projectId, mode }: Place): string => `${projectId}/${mode}`;

/** The other way round; null for anything else. */
export function readPlace(text: unknown): Place | null {
  const [, projectId, mode] = /^(proj_[^/]+)\/(test|live)$/.exec(String(text)) ?? [];
  return projectId === undefined ? null : { projectId, mode: mode as Mode };
}

/** From the address that people see to the one of the routes. A project alone means its test data. */
export function toInner(url: URL): URL {
  const inner = new URL(url);
  const [whole, projectId, mode = "test"] = begin.exec(url.pathname) ?? [];
  if (inner.searchParams.has("workspace")) inner.searchParams.delete("workspace");
  if (whole === undefined || projectId === undefined) return inner;
  inner.pathname = url.pathname.slice(whole.length) || "/";
  inner.searchParams.set("workspace", `${projectId}/${mode}`);
  return inner;
}

/** From the address of the routes to the one that people see. */
export function toOuter(url: URL): URL {
  const outer = new URL(url);
  const place = readPlace(url.searchParams.get("workspace"));
  if (outer.searchParams.has("workspace")) outer.searchParams.delete("workspace");
  if (place) outer.pathname = `/${writePlace(place)}${url.pathname === "/" ? "" : url.pathname}`;
  return outer;
}
