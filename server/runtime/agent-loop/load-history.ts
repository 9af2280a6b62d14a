import type { RunContext } from "./run-context.ts";

/** Journals the earlier messages of the run's thread, so that its prompt depends only on its journal. */
export async function loadHistory({ start, ports, record }: RunContext): Promise<void> {
  const max_messages = start.agent.memory?.history.max_messages ?? 0;
  await record({ type: "history.loaded", messages: await ports.ask("history", { max_messages }) });
}
