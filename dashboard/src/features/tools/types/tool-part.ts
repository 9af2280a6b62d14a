import type { ReactNode } from "react";
import type { Tool } from "../../../../../server/tools/schema.ts";
import type { Fields } from "../../../lib/use-form.ts";

/** What the form of a tool has for one type of tools. Each module of this folder that exports `part` is one. */
export interface ToolPart<Own = object, Draft = CommonDraft & Own> {
  hint: string;
  /** Where a tool goes: its address, its language, its server. */
  target(tool: Tool): string;
  /** Its own fields as they are typed; without a tool, of a new one. */
  draftOf(tool?: Tool): Own;
  /** What these fields say to the API. */
  read(draft: Draft, reader: DraftReader<TextField<Draft>>): Record<string, unknown>;
  Fields?: (props: Fields<Draft>) => ReactNode;
  /** What the form calls its fields, within a sentence. */
  words: Partial<Record<keyof Own & string, string>>;
  /** Fields that are sent for a new tool although they have their default. */
  always?: readonly string[];
  /** Whether it has parameters of its own to write; without this it has. */
  hasParameters?(draft: Draft): boolean;
  nameHint?: string;
  /** Stands above the form of a tool that is there. */
  Above?: (props: { tool: Tool }) => ReactNode;
  /** Why it cannot be tried here, with what to do instead. */
  untried?: { title: string; about: string };
}

/** Reads fields of a draft, and notes what of them cannot be read yet. */
export interface DraftReader<Field> {
  /** A text that must be there; the message is its fault. */
  required(field: Field, missing: string): string;
  number(field: Field): number | undefined;
  headers(): Record<string, string>;
}

export type TextField<Draft> = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];

/** What tools of all types have, and what several have: that stays when another type is chosen. */
export interface CommonDraft {
  name: string;
  description: string;
  parameters: string;
  approval: "never" | "always" | "when";
  when: string;
  on_unknown: Tool["on_unknown"];
  max_output_bytes: string;
  enabled: boolean;
  headers: { name: string; value: string }[];
  timeout_ms: string;
}

/** A number as it stands in a field. */
export const numberText = (value: number | undefined): string => (value === undefined ? "" : String(value));
