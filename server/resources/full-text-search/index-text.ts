import { nanoUsd } from "../../domain/cost.ts";
import { bucketOf as durationRange } from "../../domain/histogram-buckets.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import { contentText, wholeText } from "../../domain/run-input.ts";
import type { RunObject } from "../../domain/run-object.ts";
import { parseExact } from "../../lib/exact-numbers.ts";
import type { EndedRun } from "../../storage/journal/post-run-projections.ts";
import { facetWord, rangeOf } from "./facets.ts";

/** Most UTF-16 code units indexed of each kind of text in a run; most runs are shorter. */
const maxChars = 20_000;
const titleLength = 160;
/** Most tools of a run that are indexed: a model may call any number of tools that do not exist. */
const toolsMost = 1000;

/** Indexed text of a document. */
export interface IndexTexts {
  title: string;
  text: string;
}

/** Collects texts up to a length. */
function collector() {
  const parts: string[] = [];
  let remaining = maxChars;
  return {
    add(text: string): void {
      if (remaining <= 0) return;
      const part = text.slice(0, remaining);
      remaining -= part.length;
      parts.push(part);
    },
    parts,
  };
}

const titleOf = (text: string): string => text.replace(/\s+/g, " ").trim().slice(0, titleLength);

const ofMetadata = (metadata: Record<string, unknown>): string =>
  Object.entries(metadata)
    .map(([key, value]) => `${key} ${value}`)
    .join("\n");

const json = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? ""));

/** Collects the searchable text of a run: input, output, error, tool calls, user, session and metadata. */
export function runTexts(run: EndedRun) {
  const [input, output, calls] = [collector(), collector(), collector()];
  const facets = new Set<string>();
  const tools = new Set<string>();
  const metadata: Record<string, string> = JSON.parse(run.metadata);
  let title = "";
  let cost: number | null = null;
  facets.add(facetWord("duration", rangeOf(run.worked_ms)));
  if (run.model !== null) facets.add(facetWord("model", run.model));
  for (const [key, value] of Object.entries(metadata)) facets.add(facetWord("metadata", `${key}\0${value}`));

  function addInput(text: string): void {
    title = titleOf(text);
    input.add(text);
  }

  function addOutcome(of: {
    output: string | null;
    output_json?: unknown;
    error?: { code: string; message: string } | null;
  }): void {
    output.add(of.output ?? json(of.output_json ?? ""));
    if (!of.error) return;
    output.add(`${of.error.code}\n${of.error.message}`);
    facets.add(facetWord("error_code", of.error.code));
  }

  function spent({ cost_usd }: { cost_usd: number | null }): void {
    cost = cost_usd === null ? null : nanoUsd(cost_usd);
    if (cost !== null) facets.add(facetWord("cost", rangeOf(cost)));
  }

  function addCall(tool: string, args: unknown): void {
    if (tools.size < toolsMost) tools.add(facetWord("tool", tool));
    calls.add(`${tool} ${json(args)}`);
  }

  /** Adds the facet of the time to the first token. */
  function answered(first_ms: number | null | undefined): void {
    if (typeof first_ms === "number") facets.add(facetWord("first_token", String(durationRange(first_ms))));
  }

  if (run.summary !== null) {
    const summary: RunObject = parseExact(run.summary);
    addInput(wholeText(summary.input));
    addOutcome(summary);
    spent(summary.usage);
  }

  return {
    entry({ event }: JournalEntry): void {
      switch (event.type) {
        case "run.created":
          if (event.api_key_id) facets.add(facetWord("api_key_id", event.api_key_id));
          addInput(event.input);
          for (const { content } of event.earlier ?? []) input.add(contentText(content));
          return;
        case "run.steered":
          input.add(event.content);
          return;
        case "tool.requested":
          addCall(event.call.tool, event.call.arguments);
          return;
        case "step.completed":
          answered(event.answer?.time_to_first_token_ms);
          return;
        case "tool.decided":
          if (event.arguments) calls.add(json(event.arguments));
          return;
        case "run.completed":
        case "run.failed":
        case "run.cancelled":
          addOutcome(event);
          spent(event.usage);
      }
    },
    facets: (): string[] => [...facets, ...tools],
    /** Cost in nano-dollars; null if unknown. */
    cost: (): number | null => cost,
    texts(): IndexTexts {
      const owners = [run.user_id, run.session_id].filter((text) => text !== null).join("\n");
      const parts = [...input.parts, ...output.parts, ...calls.parts, owners, ofMetadata(metadata)];
      return { title, text: parts.filter((part) => part !== "").join("\n") };
    },
  };
}

/** Rows of objects other than runs, with the columns read of each. */
export interface Row {
  name: string | null;
  text: string | null;
  metadata: string;
}

export function objectTexts({ name, text, metadata }: Row): IndexTexts {
  const parts = [name ?? "", (text ?? "").slice(0, maxChars), ofMetadata(JSON.parse(metadata))];
  return { title: titleOf(name ?? text ?? ""), text: parts.filter((part) => part !== "").join("\n") };
}
