import type { ModelSettings } from "./model.ts";

/**
 * Splits a system prompt before its first variable, so that a provider caches the beginning that all runs of the agent
 * share. Returns null if one of the two would be blank, because providers refuse that.
 */
export function splitSystem(content: string, { stable_length: length = 0 }: ModelSettings): [string, string] | null {
  const [stable, rest] = [content.slice(0, length), content.slice(length)];
  return stable.trim() === "" || rest.trim() === "" ? null : [stable, rest];
}
