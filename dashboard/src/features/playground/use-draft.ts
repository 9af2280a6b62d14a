import { useEffect, useState } from "react";
import { parseExact } from "../../../../server/lib/exact-numbers.ts";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import { usePersonalStorageKey } from "../../entities/session/use-kept-text.ts";
import { readSessionValue, writeSessionValue } from "../../lib/session-storage.ts";
import { type Draft, draftOf, hasChanges, hasRunSettings, rebaseDraftOn } from "./draft.ts";

/** An agent that is edited on this page. */
export interface EditedAgent {
  /** Version that the draft is based on. */
  base: FullAgent;
  draft: Draft;
  /** Newer version saved elsewhere. */
  newer: FullAgent | null;
  edit: (change: Partial<Draft>) => void;
  /** Discards all changes and loads the newest version. */
  discard: () => void;
  /** Rebases the changes onto the newest version. */
  rebase: () => void;
  /** Continues with the saved version; changes since `sent` stay. */
  take: (saved: FullAgent, sent: Draft) => void;
}

/**
 * Draft of an agent in this tab. It survives a reload and newer versions saved elsewhere. A version or label that is
 * tried has a draft of its own.
 */
export function useDraft(agent: FullAgent, tried?: string): EditedAgent {
  const name = usePersonalStorageKey(`playground.${agent.id}${tried ? `.${tried}` : ""}.draft`);
  const [state, setState] = useState(
    () => parseStoredDraft(readSessionValue(name), agent) ?? { base: agent, draft: draftOf(agent) },
  );
  const { base, draft } = state;
  const isBehind = agent.version > base.version;
  // Without unsaved changes, the newer version is loaded.
  if (isBehind && !(hasChanges(draft, base) && hasChanges(draft, agent)))
    setState({ base: agent, draft: rebaseDraftOn(agent, draft, draft) });
  useEffect(() => {
    const isKept = hasChanges(draft, base) || hasRunSettings(draft);
    writeSessionValue(name, isKept ? JSON.stringify({ base, draft }) : null);
  }, [name, base, draft]);
  return {
    base,
    draft,
    newer: isBehind ? agent : null,
    edit: (change) => setState((now) => ({ ...now, draft: { ...now.draft, ...change } })),
    discard: () => setState({ base: agent, draft: draftOf(agent) }),
    rebase: () => setState((now) => ({ base: agent, draft: rebaseDraftOn(agent, now.draft, draftOf(now.base)) })),
    take: (saved, sent) => setState((now) => ({ base: saved, draft: rebaseDraftOn(saved, now.draft, sent) })),
  };
}

/** Restores a stored draft and its base version; null if it is invalid or of another agent. */
export function parseStoredDraft(
  storedText: string | null,
  agent: FullAgent,
): { base: FullAgent; draft: Draft } | null {
  try {
    const { base, draft } = parseExact<{ base: FullAgent; draft: Draft }>(storedText ?? "{}");
    // A higher version than the agent's means that the server was restored from a backup.
    if (base.id !== agent.id || base.version > agent.version) return null;
    return { base, draft: { ...draftOf(base), ...draft } };
  } catch {
    return null;
  }
}
