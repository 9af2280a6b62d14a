import type { Turn } from "./turn.ts";

/** Journals what was said in the run's thread before it: from then on its prompt depends on nothing outside its journal. */
export async function loadHistory({ start, ports, record }: Turn): Promise<void> {
  const max_messages = start.agent.memory?.history.max_messages ?? 0;
  await record({ type: "history.loaded", messages: await ports.ask("history", { max_messages }) });
}
