import type { Guardrail, GuardrailPoint } from "../../domain/agent-snapshot.ts";
import type { GuardrailKind, Place } from "./types/guardrail-kind.ts";
import { guardrailKinds } from "./types/guardrail-kinds.ts";

/** Removes guardrails of these kinds. */
export const withoutKinds = (list: CompiledGuardrails, ...about: GuardrailKind["about"][]): CompiledGuardrails =>
  list.filter(({ kind }) => !about.includes(kind.about));

/** A guardrail compiled for use on texts. */
export interface CompiledGuardrail {
  /** Index in the agent's list. */
  index: number;
  guardrail: Guardrail;
  kind: GuardrailKind;
  /** Detectors and their replacement marks. Empty: the guardrail judges the whole text. */
  places: Place[];
}

export type CompiledGuardrails = readonly CompiledGuardrail[];

const compiled = new WeakMap<readonly Guardrail[], CompiledGuardrails>();

/** Compiles an agent's list, which has passed {@link checkGuardrails}. Cached per list. */
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

/** Returns the guardrails at this point, in the order of the list. */
export const guardrailsOn = (list: CompiledGuardrails, point: GuardrailPoint): CompiledGuardrail[] =>
  list.filter(({ guardrail }) => guardrail.on.includes(point));
