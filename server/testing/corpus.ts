import { readdirSync, readFileSync } from "node:fs";
import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import type { JournalEntry } from "../domain/run-event.ts";

/** Journal written by an earlier version, and the agent that it was made with. */
export interface Recorded {
  /** Version and name, such as `v1/approvals`. */
  name: string;
  entries: JournalEntry[];
  agent: AgentSnapshot;
}

const corpusFolder = `${import.meta.dir}/../domain/__fixtures__/journals`;

const agentsOf = "-agents.json";
const extension = ".jsonl";

const read = (file: string): string => readFileSync(`${corpusFolder}/${file}`, "utf8");

/** All journals that must stay readable. */
export const corpus: Recorded[] = versions().flatMap((version) => {
  const agents: Record<string, AgentSnapshot> = JSON.parse(read(`${version}${agentsOf}`));
  const files = readdirSync(`${corpusFolder}/${version}`).filter((file) => file.endsWith(extension));
  return files.map((file) => {
    const name = file.slice(0, -extension.length);
    const lines = read(`${version}/${file}`).trimEnd().split("\n");
    return { name: `${version}/${name}`, entries: lines.map((line) => JSON.parse(line)), agent: agents[name]! };
  });
});

/** Returns the folders that have a file with the agents of their journals beside them. */
function versions(): string[] {
  const files = readdirSync(corpusFolder).filter((file) => file.endsWith(agentsOf));
  return files.map((file) => file.slice(0, -agentsOf.length));
}
