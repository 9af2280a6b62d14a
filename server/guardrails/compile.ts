import type { Guardrail, GuardrailPoint } from "../core/agent-snapshot.ts";
import type { GuardrailKind, Place } from "./types/guardrail-kind.ts";
import { guardrailKinds } from "./types/guardrail-kinds.ts";

/** Those that are about something else. */
export const except = (list: CompiledGuardrails, ...about: GuardrailKind["about"][]): CompiledGuardrails =>
  list.filter(({ kind }) => !about.includes(kind.about));

/** A guardrail that is ready for texts. */
export interface CompiledGuardrail {
  /** Its place in the agent's list. */
  index: number;
  guardrail: Guardrail;
  kind: GuardrailKind;
  /** What it looks for in texts, and what is left in the place of a finding. Empty: it looks at the whole. */
  places: Place[];
}

export type CompiledGuardrails = readonly CompiledGuardrail[];

const compiled = new WeakMap<readonly Guardrail[], CompiledGuardrails>();

/** Compiles an agent's list, which {@link checkGuardrails} passed; the same list only once. */
export function compileGuardrails(list: readonly Guardrail[]): CompiledGuardrails {
  let known = compiled.get(list);
  if (!known) {
    known = list.map((guardrail, index) => {
      const kind = guardrailKinds[guardrail.type];
      return { index, guardrail, kind, places: kind.places?.(guardrail.config) ?? [] };
    });
    compiled.set(list, known);
  }
  return known;
}

/** Those that look at this point, in the order of the list. */
export const guardrailsOn = (list: CompiledGuardrails, point: GuardrailPoint): CompiledGuardrail[] =>
  list.filter(({ guardrail }) => guardrail.on.includes(point));
