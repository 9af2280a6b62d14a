import type { ReactNode } from "react";
import type { Tool } from "../../../../../server/resources/tools/schema.ts";
import type { Fields } from "../../../hooks/use-form.ts";

/** Form part of one tool type. Every module in this folder that exports `part` is one. */
export interface ToolPart<Own = object, Draft = CommonDraft & Own> {
  hint: string;
  /** Returns the tool's target: address, language or server. */
  target(tool: Tool): string;
  /** Form values of its own fields; without a tool, of a new one. */
  draftOf(tool?: Tool): Own;
  /** Converts these fields to API fields. */
  read(draft: Draft, reader: DraftReader<TextField<Draft>>): Record<string, unknown>;
  Fields?: (props: Fields<Draft>) => ReactNode;
  /** Labels of its fields within a sentence. */
  words: Partial<Record<keyof Own & string, string>>;
  /** Fields that are sent for a new tool even with their default. */
  always?: readonly string[];
  /** Fields that are one choice: if one of them changes, all are sent. */
  together?: readonly string[];
  /** True if it declares its own parameters; absent means true. */
  hasParameters?(draft: Draft): boolean;
  nameHint?: string;
  /** Content above the form of an existing tool. */
  Above?: (props: { tool: Tool }) => ReactNode;
  /** Reason why it cannot be tested here, and the alternative. */
  testUnavailable?: { title: string; about: string };
}

/** Parses draft fields and collects errors. */
export interface DraftReader<Field> {
  /** Returns a required text; `missing` is the error if it is empty. */
  required(field: Field, missing: string): string;
  number(field: Field): number | undefined;
  /** Returns a list in JSON, null for an empty text. */
  list(field: Field): unknown;
  headers(): Record<string, string>;
}

export type TextField<Draft> = { [K in keyof Draft]: Draft[K] extends string ? K : never }[keyof Draft];

/** Fields that all or several tool types have; they stay when the type changes. */
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
  /** Id of the OAuth client of the calls; empty for none. */
  auth: string;
  /** True if each user of a discovered client has an own grant. */
  auth_per_user: boolean;
  timeout_ms: string;
}

/** Converts a number to a field's text. */
export const numberText = (value: number | undefined): string => (value === undefined ? "" : String(value));
