import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import type { Variable, VariableValues } from "../../../../server/domain/variable.ts";
import type { CreateTrigger } from "../../../../server/resources/triggers/schema.ts";
import { typedValue } from "../../entities/agent/variable-rows.ts";
import { chosenFields, textOfChoice } from "../../entities/agent/version-choice.ts";

/** Returns a trigger as the form shows it: every field is text. */
export const draftOf = (trigger?: Trigger) => ({
  name: trigger?.name ?? "",
  agent_id: trigger?.agent_id ?? "",
  /** Version or label of the agent. */
  choice: trigger ? textOfChoice(trigger) : "",
  verification: trigger?.verification ?? ("github" as CreateTrigger["verification"]),
  secret_header: trigger?.secret_header ?? "",
  input: trigger?.input ?? "",
  /** Templates and constants of the agent's variables, by name. */
  values: Object.fromEntries(Object.entries(trigger?.variables ?? {}).map(([name, value]) => [name, String(value)])),
  filter: trigger && trigger.filter.length > 0 ? JSON.stringify(trigger.filter, null, 2) : "",
  dedupe: trigger?.dedupe ?? "",
  thread: trigger?.thread ?? "",
  user: trigger?.user ?? "",
});

/** Returns the fault of a filter's text, or null. */
export function filterFault(
  text: string,
  read: (text: string) => { value?: unknown; fault?: string | null },
): string | null {
  if (text.trim() === "") return null;
  const { value, fault } = read(text);
  return fault ?? (Array.isArray(value) ? null : "Must be a list of conditions.");
}

/**
 * Returns the request of a draft; an agent that was not chosen is the first one. `declared` are the variables of the
 * agent, or undefined while they are unknown.
 */
export function orderOf(
  draft: ReturnType<typeof draftOf>,
  firstAgent: string,
  declared?: readonly Variable[],
): CreateTrigger {
  const { name, agent_id, choice, verification, secret_header, input, filter, dedupe, thread, user } = draft;
  return {
    name: name.trim(),
    agent_id: agent_id || firstAgent,
    ...chosenFields(choice),
    verification,
    ...(verification === "shared_secret" && { secret_header: secret_header.trim() || null }),
    input: input.trim() === "" ? null : input,
    ...variablesIn(draft, declared),
    filter: conditionsIn(filter),
    ...(dedupe.trim() !== "" && { dedupe: dedupe.trim() }),
    thread: thread.trim() || null,
    user: user.trim() || null,
  };
}

function variablesIn(
  { values }: Pick<ReturnType<typeof draftOf>, "values">,
  declared: readonly Variable[] | undefined,
): { variables?: VariableValues | null } {
  if (!declared || Object.keys(values).length === 0) return {};
  const given = declared.flatMap(({ name, type }): [string, VariableValues[string]][] => {
    const text = Object.hasOwn(values, name) ? (values[name] ?? "") : "";
    return text === "" ? [] : [[name, text.includes("{{") ? text : typedValue(type, text)]];
  });
  return { variables: given.length > 0 ? Object.fromEntries(given) : null };
}

function conditionsIn(text: string): NonNullable<CreateTrigger["filter"]> {
  try {
    return text.trim() === "" ? [] : JSON.parse(text);
  } catch {
    return []; // The field shows the fault.
  }
}
