import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import type { CreateTrigger } from "../../../../server/resources/triggers/schema.ts";

/** Returns a trigger as the form shows it: every field is text. */
export const draftOf = (trigger?: Trigger) => ({
  name: trigger?.name ?? "",
  agent_id: trigger?.agent_id ?? "",
  verification: trigger?.verification ?? ("github" as CreateTrigger["verification"]),
  secret_header: trigger?.secret_header ?? "",
  input: trigger?.input ?? "",
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
  return fault ?? (Array.isArray(value) ? null : "Expected a list of conditions.");
}

/** Returns the request of a draft; an agent that was not chosen is the first one. */
export function orderOf(draft: ReturnType<typeof draftOf>, firstAgent: string): CreateTrigger {
  const { name, agent_id, verification, secret_header, input, filter, dedupe, thread, user } = draft;
  return {
    name: name.trim(),
    agent_id: agent_id || firstAgent,
    verification,
    ...(verification === "shared_secret" && { secret_header: secret_header.trim() || null }),
    input: input.trim() === "" ? null : input,
    filter: conditionsIn(filter),
    ...(dedupe.trim() !== "" && { dedupe: dedupe.trim() }),
    thread: thread.trim() || null,
    user: user.trim() || null,
  };
}

function conditionsIn(text: string): NonNullable<CreateTrigger["filter"]> {
  try {
    return text.trim() === "" ? [] : JSON.parse(text);
  } catch {
    return []; // The field shows the fault.
  }
}
