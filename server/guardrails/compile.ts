import type { Guardrail, GuardrailPoint } from "../core/agent-snapshot.ts";
import type { JsonSchema } from "../core/model-call.ts";
import type { Place } from "./types/guardrail-kind.ts";
import { guardrailKinds } from "./types/guardrail-kinds.ts";

/** Those that say something of any text, and not which shape a whole input or output has. */
export const withoutShape = (list: CompiledGuardrails): CompiledGuardrails =>
  list.filter(({ guardrail: { type } }) => type !== "json_schema");

/** A guardrail that is ready for texts. */
export interface CompiledGuardrail {
  /** Its place in the agent's list. */
  index: number;
  guardrail: Guardrail;
  /** What it looks for in texts, and what is left in the place of a finding. Empty: it looks at the whole. */
  places: Place[];
}

export type CompiledGuardrails = readonly CompiledGuardrail[];

const compiled = new WeakMap<readonly Guardrail[], CompiledGuardrails>();

/** Compiles an agent's list, which {@link checkGuardrails} passed; the same list only once. */
export function compileGuardrails(list: readonly Guardrail[]): CompiledGuardrails {
  let known = compiled.get(list);
  if (!known) {
    known = list.map((guardrail, index) => ({
      index,
      guardrail,
      places: guardrailKinds[guardrail.type].places?.(guardrail.config) ?? [],
    }));
    compiled.set(list, known);
  }
  return known;
}

/** Those that look at this point, in the order of the list. */
export const guardrailsOn = (list: CompiledGuardrails, point: GuardrailPoint): CompiledGuardrail[] =>
  list.filter(({ guardrail }) => guardrail.on.includes(point));

export const schemaOf = ({ guardrail }: CompiledGuardrail): JsonSchema => guardrail.config.schema as JsonSchema;
