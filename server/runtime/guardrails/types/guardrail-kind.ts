import type { GuardrailPoint } from "../../../domain/agent-snapshot.ts";
import type { Detector } from "../detectors.ts";

/** Definition of one type of guardrail. Each module of this folder is one, and `guardrail-kinds.ts` lists them. */
export interface GuardrailKind {
  /** Subject of the check: places in texts, length, shape, name of the tool, or a model's opinion. */
  about: "text" | "length" | "shape" | "tool" | "opinion";
  /** Validators of its settings (`config`). */
  required: Record<string, Rule>;
  optional?: Record<string, Rule>;
  /** Returns its detectors and replacement marks; without this it judges the whole text. */
  places?(config: Config): Place[];
  /** True if a value fits; undefined stands for a text that is not JSON. */
  fits?(config: Config, value: unknown): boolean;
  /** True if a tool may be called. */
  allows?(config: Config, tool: string): boolean;
  /** Returns the message of a finding, without the text found. */
  message(config: Config): string;
  /** The only point where it can be used. */
  only?: GuardrailPoint;
  /** Points where its findings cannot be removed. */
  uncut?: readonly GuardrailPoint[];
  /** Returns its share of the limits for all guardrails of an agent; its settings are not validated yet. */
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
    complain(path, `Must be a list of ${min} to ${max} texts.`);
    return;
  }
  for (const [i, item] of value.entries()) {
    if (typeof item === "string") check(item, `${path}[${i}]`);
    else complain(`${path}[${i}]`, "Must be a text.");
  }
}
