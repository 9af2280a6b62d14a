import type { Guardrail, GuardrailAction, GuardrailPoint, GuardrailType } from "../../domain/agent-snapshot.ts";
import { missingParameter, noSuch } from "../../domain/error-messages.ts";
import type { Fault } from "../../domain/errors.ts";
import { ownValue } from "../../lib/collections.ts";
import { guardrailLimits } from "./limits.ts";
import type { Complain } from "./types/guardrail-kind.ts";
import { guardrailKinds } from "./types/guardrail-kinds.ts";

/** A guardrail in a request; types without settings need no `config`. */
export type GuardrailInput = Omit<Guardrail, "config"> & { config?: Record<string, unknown> };

/** Returns all faults of an agent's guardrails, each with its path, such as `guardrails[2].config.pattern`. */
export function checkGuardrails(list: readonly GuardrailInput[]): Fault[] {
  const faults: Fault[] = [];
  const complain: Complain = (param, message, code = "invalid_value") =>
    void faults.push({ param, code, message: `${param}: ${message}` });
  if (list.length > guardrailLimits.list) complain("guardrails", `Must have at most ${guardrailLimits.list} rules.`);
  let [steps, characters] = [0, 0];
  for (const [i, guardrail] of list.slice(0, guardrailLimits.list).entries()) {
    const path = `guardrails[${i}]`;
    checkPlace(guardrail, path, complain);
    checkConfig(guardrail, `${path}.config`, complain);
    const takes = guardrailKinds[guardrail.type].takes?.(guardrail.config ?? {});
    steps += takes?.steps ?? 0;
    characters += takes?.characters ?? 0;
  }
  if (steps > guardrailLimits.pattern_steps)
    complain("guardrails", `All patterns together are larger than ${guardrailLimits.pattern_steps} steps.`);
  if (characters > guardrailLimits.term_characters)
    complain("guardrails", `All terms together are longer than ${guardrailLimits.term_characters} characters.`);
  return faults;
}

/** True if a type can perform the action at this point. */
export function fitsPlace(type: GuardrailType, on: GuardrailPoint, action: GuardrailAction): boolean {
  const { only, places, uncut } = guardrailKinds[type];
  if (only && on !== only) return false;
  if (action === "require_approval") return on === "tool_call";
  return action !== "redact" || (places !== undefined && !uncut?.includes(on));
}

function checkPlace({ type, on, action }: GuardrailInput, path: string, complain: Complain): void {
  const { only, places } = guardrailKinds[type];
  const wrong = on.filter((point) => !fitsPlace(type, point, action));
  if (wrong.length === 0) return;
  if (only && on.some((point) => point !== only)) complain(`${path}.on`, `Must be ["${only}"] for ${type}.`);
  else if (action === "require_approval") complain(`${path}.on`, 'Must be ["tool_call"] for require_approval.');
  else if (!places) complain(`${path}.action`, `${type} finds no places that could be redacted.`);
  else complain(`${path}.on`, `Arguments of a tool cannot be cut: tool_call does not go with ${type} and redact.`);
}

function checkConfig({ type, config = {} }: GuardrailInput, path: string, complain: Complain): void {
  const { required, optional = {} } = guardrailKinds[type];
  for (const name of Object.keys(required))
    if (!Object.hasOwn(config, name)) complain(`${path}.${name}`, missingParameter, "required");
  for (const [name, value] of Object.entries(config)) {
    const check = ownValue({ ...required, ...optional }, name);
    if (check) check(value, `${path}.${name}`, complain);
    else complain(`${path}.${name}`, noSuch("parameter"), "unknown_parameter");
  }
}
