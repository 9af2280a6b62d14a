import type { McpListing, McpTool } from "../mcp/read-tools.ts";
import type { McpDefinition } from "./definition.ts";

/** Those of a server's tools that agents get. */
export const offered = ({ listing, allowed_tools }: McpDefinition): McpTool[] =>
  listing.tools.filter(({ name }) => allowed_tools?.includes(name) ?? true);

/** Those that agents do not get although they were asked for. */
export function skipped({ listing, allowed_tools }: McpDefinition): McpListing["skipped"] {
  const said = listing.skipped.filter(({ name }) => allowed_tools?.includes(name) ?? true);
  if (listing.listed_at_ms === null) return said;
  const known = new Set([...listing.tools, ...listing.skipped].map(({ name }) => name));
  const absent = (allowed_tools ?? []).filter((name) => !known.has(name));
  return [...said, ...absent.map((name) => ({ name, reason: "The server has no such tool." }))];
}
