import { byteLength } from "../../domain/byte-length.ts";
import { attachmentBytes } from "../../domain/documents-prompt.ts";
import { decidedEvents, type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import { limits } from "../../domain/limits.ts";
import type { AttachedDocument } from "../../domain/run-event.ts";
import type { RunState } from "../../domain/run-state.ts";
import { steeredFiles } from "../../domain/steering.ts";
import { type CompiledGuardrails, compileGuardrails, withoutKinds } from "../guardrails/compile.ts";
import { searchInSlices } from "../guardrails/in-slices.ts";
import { screenText } from "../guardrails/inspect.ts";
import { takenBy } from "../models/input-kinds.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { RunContext } from "./run-context.ts";
import { withFindings } from "./spending.ts";

/**
 * Adds the run's files to its prompt and journals them once, so that every later prompt has the same text. Those of a
 * message that came while the run was under way join the earlier ones.
 */
export async function attachDocuments(context: RunContext): Promise<void> {
  const { state, start, ports } = context;
  const { documents: before, turns } = state();
  const file_ids = filesFor(state());
  const max_bytes = Math.max(0, attachmentBytes(state(), start.agent) - bytesOf(before));
  const { images, pdf, page_images, images_most } = takenBy(start.connection.provider, start.model);
  // A guardrail reads only text, so that a PDF which it did not see must not reach the model.
  const isGuarded = start.agent.guardrails?.some(({ on }) => on.includes("input")) ?? false;
  const isShown = page_images !== "never" && !pdf && !isGuarded;
  const attachments = await ports.ask("documents", {
    file_ids,
    max_bytes,
    images,
    pdf: pdf && !isGuarded,
    ...(isShown && { page_images: { of: page_images, most: Math.max(0, images_most - imagesIn(before)) } }),
  });
  const { documents, findings } = await screen(attachments, context);
  const decided = decidedEvents(findings, context.takeSteps(findings.length), Math.max(0, turns - 1));
  // Blocked content is not journaled.
  if (findings.some(isBlocked)) await context.record(...decided);
  else await context.record(...decided, { type: "documents.attached", documents });
}

/**
 * Returns the files that are not in the prompt yet: of the run, the newest of its thread's messages, and of messages that
 * came while it was under way.
 */
function filesFor({ run, history, messages, documents }: RunState): string[] {
  const earlier = history.flatMap((message) => (message.role === "user" ? (message.files ?? []) : []));
  const ids = earlier.slice(-limits.files_per_run).map(({ file_id }) => file_id);
  const all = new Set([...ids, ...run.file_ids, ...steeredFiles(messages)]);
  return [...all].filter((id) => !documents.some(({ file_id }) => file_id === id));
}

const bytesOf = (documents: readonly AttachedDocument[]): number =>
  documents.reduce((sum, { text }) => sum + byteLength(text ?? ""), 0);

const imagesIn = (documents: readonly AttachedDocument[]): number =>
  documents.reduce((sum, { image, page_images = 0 }) => sum + (image ? 1 : page_images), 0);

/**
 * Applies input guardrails (except length and shape) to the files' texts, names and notes. Judges see only the texts.
 */
async function screen(
  documents: AttachedDocument[],
  turn: RunContext,
): Promise<{ documents: AttachedDocument[]; findings: Finding[] }> {
  const list = withoutKinds(compileGuardrails(turn.start.agent.guardrails ?? []), "shape", "length");
  const left: AttachedDocument[] = [];
  const findings: Finding[] = [];
  for (const document of documents) {
    const { screened, triggered } = await screenOne(list, document);
    left.push(screened);
    findings.push(...triggered);
    if (!triggered.some(isBlocked) && screened.text !== null) {
      const used = withFindings(turn.state().usage, findings); // The cost of these judges is not journaled yet.
      findings.push(...(await askJudges(judgesOn(turn, "input"), "input", screened.text, turn, used)));
    }
    if (findings.some(isBlocked)) break;
  }
  return { documents: left, findings };
}

// A note may quote the text that a parser failed on.
const screenedFields = ["text", "filename", "note"] as const;

async function screenOne(list: CompiledGuardrails, document: AttachedDocument) {
  const texts = screenedFields.flatMap((field) => document[field] ?? []);
  const known = await searchInSlices(list, "input", texts);
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
