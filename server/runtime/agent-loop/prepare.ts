import type { Preparation } from "../../domain/run-event.ts";
import { attachDocuments } from "./attach-documents.ts";
import { loadHistory } from "./load-history.ts";
import { retrieve } from "./retrieve.ts";
import type { RunContext } from "./run-context.ts";

const preparations: Record<Preparation, (turn: RunContext) => Promise<void>> = {
  history: loadHistory,
  documents: attachDocuments,
  retrieval: retrieve,
};

/** Runs a preparation before the first model call. Journaled preparations are not repeated. */
export const prepare = (what: Preparation, turn: RunContext): Promise<void> => preparations[what](turn);
