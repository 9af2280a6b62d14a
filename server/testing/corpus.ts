import { readdirSync, readFileSync } from "node:fs";
import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { JournalEntry } from "../core/run-event.ts";

/** A journal as an earlier version wrote it, and the agent that it was made with. */
export interface Recorded {
  /** Behind that of its version, as `v1/approvals`. */
  name: string;
  entries: JournalEntry[];
  agent: AgentSnapshot;
}

const corpusFolder = `${import.meta.dir}/../core/__fixtures__/journals`;

const agentsOf = "-agents.json";
const extension = ".jsonl";

const read = (file: string): string => readFileSync(`${corpusFolder}/${file}`, "utf8");

/** All journals that have to be readable for ever. */
export const corpus: Recorded[] = versions().flatMap((version) => {
  const agents: Record<string, AgentSnapshot> = JSON.parse(read(`${version}${agentsOf}`));
  const files = readdirSync(`${corpusFolder}/${version}`).filter((file) => file.endsWith(extension));
  return files.map((file) => {
    const name = file.slice(0, -extension.length);
    const lines = read(`${version}/${file}`).trimEnd().split("\n");
    return { name: `${version}/${name}`, entries: lines.map((line) => JSON.parse(line)), agent: agents[name]! };
  });
});

/** The folders beside which there is a file with the agents of their journals. */
function versions(): string[] {
  const files = readdirSync(corpusFolder).filter((file) => file.endsWith(agentsOf));
  return files.map((file) => file.slice(0, -agentsOf.length));
}
