import type { GuardrailPoint } from "../../core/agent-snapshot.ts";
import type { Detector } from "../detectors.ts";

/** What guardrails of one type are. Each module of this folder is one, and `guardrail-kinds.ts` lists them. */
export interface GuardrailKind {
  /** What stands in texts, how long or of which shape the whole is, which tool is called, or what a model thinks of it. */
  about: "text" | "length" | "shape" | "tool" | "opinion";
  /** Its settings (`config`), each with what is wrong with a value. */
  required: Record<string, Rule>;
  optional?: Record<string, Rule>;
  /** What it looks for in texts, and what is left in the place of a finding; without this, it looks at the whole. */
  places?(config: Config): Place[];
  /** Whether a value fits; undefined is a text that is no JSON. */
  fits?(config: Config, value: unknown): boolean;
  /** Whether a tool may be called. */
  allows?(config: Config, tool: string): boolean;
  /** What is said of a finding, which it never repeats. */
  message(config: Config): string;
  /** The only point where it means anything. */
  only?: GuardrailPoint;
  /** Points where its findings cannot be cut out. */
  uncut?: readonly GuardrailPoint[];
  /** What it takes of what all guardrails of an agent may have together; its settings were not judged yet. */
  takes?(config: Config): { steps?: number; characters?: number };
}

type Config = Record<string, unknown>;

export interface Place {
  detector: Detector;
  mark: string;
}

type Rule = (value: unknown, path: string, complain: Complain) => void;
export type Complain = (path: string, message: string, code?: string) => void;

export function checkList(
  value: unknown,
  path: string,
  complain: Complain,
  max: number,
  check: (item: string, path: string) => void,
  min = 1,
): void {
  if (!Array.isArray(value) || value.length < min || value.length > max) {
    complain(path, `Expected a list of ${min} to ${max} texts.`);
    return;
  }
  for (const [i, item] of value.entries()) {
    if (typeof item === "string") check(item, `${path}[${i}]`);
    else complain(`${path}[${i}]`, "Expected a text.");
  }
}
