import { useEffect, useState } from "react";
import { type Draft, draftOf } from "./fns/draft.ts";
import type { FullAgent } from "./fns/playground-types.ts";

/** What was changed of an agent in this tab; a reload keeps it, another version of the agent voids it. */
export function useDraft(agent: FullAgent): [Draft, (change: Partial<Draft>) => void, () => void] {
  const key = `runnel.draft.${agent.id}.${agent.version}`;
  const [draft, setDraft] = useState<Draft>(() => ({ ...draftOf(agent), ...read(key) }));
  const [ofVersion, setOfVersion] = useState(agent.version);
  if (ofVersion !== agent.version) {
    // Saved: what the agent keeps is in it now, what only runs have stays.
    setOfVersion(agent.version);
    setDraft({ ...draftOf(agent), maxCost: draft.maxCost });
  }
  useEffect(() => {
    const timer = setTimeout(() => write(key, draft), 300);
    return () => clearTimeout(timer);
  }, [key, draft]);
  return [draft, (change) => setDraft((all) => ({ ...all, ...change })), () => setDraft(draftOf(agent))];
}

function read(key: string): Partial<Draft> {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(key) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {};
  }
}

function write(key: string, draft: Draft): void {
  try {
    sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // Storage is forbidden or full: the draft holds until the page is left.
  }
}
