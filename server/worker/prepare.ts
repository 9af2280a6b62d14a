import type { Preparation } from "../core/run-event.ts";
import { attachDocuments } from "./attach-documents.ts";
import { loadHistory } from "./load-history.ts";
import { retrieve } from "./retrieve.ts";
import type { Turn } from "./turn.ts";

const preparations: Record<Preparation, (turn: Turn) => Promise<void>> = {
  history: loadHistory,
  documents: attachDocuments,
  retrieval: retrieve,
};

/** Fetches what the model is to know before it is first asked. What is journaled is not fetched again. */
export const prepare = (what: Preparation, turn: Turn): Promise<void> => preparations[what](turn);
