import { attachmentBytes } from "../core/documents-prompt.ts";
import { decidedEvents, type Finding, isBlocked } from "../core/guardrail-event.ts";
import type { AttachedDocument } from "../core/run-event.ts";
import { type CompiledGuardrails, compileGuardrails, except } from "../guardrails/compile.ts";
import { searched } from "../guardrails/in-slices.ts";
import { screenText } from "../guardrails/inspect.ts";
import { takesImages } from "../models/takes-images.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { withFindings } from "./spending.ts";
import type { Turn } from "./turn.ts";

/** Puts the run's files before its model, once: what is journaled is what every prompt of the run has. */
export async function attachDocuments(turn: Turn): Promise<void> {
  const { state, start, ports } = turn;
  const { file_ids, model } = state().run!;
  const max_bytes = attachmentBytes(state(), start.agent);
  const given = await ports.ask("documents", { file_ids, max_bytes, images: takesImages(model) });
  const { documents, findings } = await screen(given, turn);
  const decided = decidedEvents(findings, turn.takeSteps(findings.length), 0);
  // What is blocked is not written down.
  if (findings.some(isBlocked)) await turn.record(...decided);
  else await turn.record(...decided, { type: "documents.attached", documents });
}

/**
 * Files are input too: the guardrails of input look at their texts and names, but for those that say how long or of which
 * shape it is. Judges are asked about the texts.
 */
async function screen(
  documents: AttachedDocument[],
  turn: Turn,
): Promise<{ documents: AttachedDocument[]; findings: Finding[] }> {
  const list = except(compileGuardrails(turn.start.agent.guardrails ?? []), "shape", "length");
  const left: AttachedDocument[] = [];
  const findings: Finding[] = [];
  for (const document of documents) {
    const { screened, triggered } = await screenOne(list, document);
    left.push(screened);
    findings.push(...triggered);
    if (!triggered.some(isBlocked) && screened.text !== null) {
      const used = withFindings(turn.state().usage, findings); // What the judges have cost so far is on no record yet.
      findings.push(...(await askJudges(judgesOn(turn, "input"), "input", screened.text, turn, used)));
    }
    if (findings.some(isBlocked)) break;
  }
  return { documents: left, findings };
}

// A note may repeat what a parser stumbled over.
const screenedFields = ["text", "filename", "note"] as const;

async function screenOne(list: CompiledGuardrails, document: AttachedDocument) {
  const texts = screenedFields.flatMap((field) => document[field] ?? []);
  const known = await searched(list, "input", texts);
  const screened = { ...document };
  const triggered: Finding[] = [];
  for (const field of screenedFields) {
    const text = document[field];
    if (text === null) continue;
    const found = screenText(known, "input", text);
    screened[field] = found.value;
    triggered.push(...found.triggered);
  }
  return { screened, triggered };
}
