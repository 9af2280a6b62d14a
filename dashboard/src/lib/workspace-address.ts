import type { Environment as Mode } from "../../../server/domain/scope.ts";

// An address starts with project and mode: `/proj_…/live/runs`. The routes see only `/runs`, so that each page is
// defined once; project and mode become a search parameter that every link keeps.

/** Project and mode of an address. */
export interface WorkspaceAddress {
  projectId: string;
  mode: Mode;
}

/** The search parameter that the routes see. */
export interface WorkspaceSearch {
  workspace?: string;
}

const begin = /^\/(proj_[^/]+)(?:\/(test|live))?(?=\/|$)/;

/** Formats the parameter. */
export const formatWorkspace = ({ projectId, mode }: WorkspaceAddress): string => `${projectId}/${mode}`;

/** Parses the parameter; null if invalid. */
export function parseWorkspace(text: unknown): WorkspaceAddress | null {
  const [, projectId, mode] = /^(proj_[^/]+)\/(test|live)$/.exec(String(text)) ?? [];
  return projectId === undefined ? null : { projectId, mode: mode as Mode };
}

/** Converts a visible address to the routes' address. A project alone means test mode. */
export function toRouterUrl(url: URL): URL {
  const inner = new URL(url);
  const [prefix, projectId, mode = "test"] = begin.exec(url.pathname) ?? [];
  if (inner.searchParams.has("workspace")) inner.searchParams.delete("workspace");
  if (prefix === undefined || projectId === undefined) return inner;
  inner.pathname = url.pathname.slice(prefix.length) || "/";
  inner.searchParams.set("workspace", `${projectId}/${mode}`);
  return inner;
}

/** Converts the routes' address to the visible one. */
export function toPublicUrl(url: URL): URL {
  const outer = new URL(url);
  const place = parseWorkspace(url.searchParams.get("workspace"));
  if (outer.searchParams.has("workspace")) outer.searchParams.delete("workspace");
  if (place) outer.pathname = `/${formatWorkspace(place)}${url.pathname === "/" ? "" : url.pathname}`;
  return outer;
}
