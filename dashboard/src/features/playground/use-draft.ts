import { useEffect, useState } from "react";
import type { Agent as FullAgent } from "../../../../server/agents/schema.ts";
import { useKeptName } from "../../entities/session/use-kept-text.ts";
import { readKept, writeKept } from "../../lib/kept.ts";
import { type Draft, draftOf, draftOn, isWritten } from "./draft.ts";
import { keptDraft } from "./kept-draft.ts";

/** An agent that is changed here. */
export interface EditedAgent {
  /** The version that the draft was made from. */
  base: FullAgent;
  draft: Draft;
  /** The version that somebody else saved meanwhile. */
  newer: FullAgent | null;
  edit: (change: Partial<Draft>) => void;
  /** Begins anew with the newest version. */
  discard: () => void;
  /** Goes on with the newest version: what was written stands, the rest is that one's. */
  rebase: () => void;
  /** Goes on with what was saved of the draft that was sent; what was written meanwhile stands. */
  take: (saved: FullAgent, sent: Draft) => void;
}

/** What was changed of an agent in this tab: a reload keeps it, and nobody else's version wipes it. */
export function useDraft(agent: FullAgent): EditedAgent {
  const name = useKeptName(`playground.${agent.id}.draft`);
  const [state, setState] = useState(() => keptDraft(readKept(name), agent) ?? { base: agent, draft: draftOf(agent) });
  const { base, draft } = state;
  const isBehind = agent.version > base.version;
  // Nothing was written here yet, or it is saved already: the newer version is taken.
  if (isBehind && !(isWritten(draft, base) && isWritten(draft, agent)))
    setState({ base: agent, draft: draftOn(agent, draft, draft) });
  useEffect(() => {
    const isKept = isWritten(draft, base) || draft.run_cost_usd !== "" || draft.remembers !== null;
    writeKept(name, isKept ? JSON.stringify({ base, draft }) : null);
  }, [name, base, draft]);
  return {
    base,
    draft,
    newer: isBehind ? agent : null,
    edit: (change) => setState((now) => ({ ...now, draft: { ...now.draft, ...change } })),
    discard: () => setState({ base: agent, draft: draftOf(agent) }),
    rebase: () => setState((now) => ({ base: agent, draft: draftOn(agent, now.draft, draftOf(now.base)) })),
    take: (saved, sent) => setState((now) => ({ base: saved, draft: draftOn(saved, now.draft, sent) })),
  };
}
