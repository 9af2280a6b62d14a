import type { Finding } from "../../domain/guardrail-event.ts";
import { type CompiledGuardrails, guardrailsOn, withoutKinds } from "../guardrails/compile.ts";
import { searchInSlices } from "../guardrails/in-slices.ts";
import { inspectText, trigger } from "../guardrails/inspect.ts";
import { createOutputGate, type GateOutput, type OutputGate } from "../guardrails/output-gate.ts";
import { createPlainEscapes } from "../guardrails/plain-escapes.ts";
import type { ModelEvent } from "../models/model.ts";

/** A piece of an answer that may be shown. */
export type Piece = Pick<Extract<ModelEvent, { type: "delta" }>, "part" | "kind" | "text">;

interface Voice {
  kind: Piece["kind"];
  /** The part that it adds to now. */
  part: number;
  guardrails: CompiledGuardrails;
  gate: OutputGate;
  generated: string;
  shown: string;
}

/**
 * Applies output guardrails to the model's stream. All answer text is checked as one text, because readers join it;
 * each reasoning part is checked separately. Withheld text is not journaled either.
 */
export function createOutputGuard(list: CompiledGuardrails, { isJson = false }: { isJson?: boolean } = {}) {
  const outputGuardrails = guardrailsOn(list, "output");
  // Readers parse the JSON, so guardrails check its unescaped text.
  const escapes = isJson ? createPlainEscapes() : null;
  // Guardrails on shape and length do not apply to reasoning.
  const overReasoning = withoutKinds(outputGuardrails, "shape", "length");
  const voices: Voice[] = [];
  const texts = new Map<number, { generated: string; shown: string }>();
  let length = 0;
  let blocked: Finding | null = null;

  /** Returns the voice of this part, and the rest of a reasoning part that has ended. */
  function voiceOf({ part, kind }: Piece): [voice: Voice, ended: Piece[]] {
    const last = voices.at(-1);
    const known = kind === "output" ? voices.find((each) => each.kind === "output") : last;
    const isOver = last?.kind === "reasoning" && last.part !== part && !last.gate.holdsAll;
    const ended = isOver ? show(last, last.gate.end(false)) : [];
    if (known?.kind === kind && (kind === "output" || known.part === part))
      return [Object.assign(known, { part }), ended];
    return [newVoice(kind, part), ended];
  }

  function newVoice(kind: Piece["kind"], part: number): Voice {
    const guardrails = kind === "output" ? outputGuardrails : overReasoning;
    const voice = { kind, part, guardrails, gate: createOutputGate(guardrails), generated: "", shown: "" };
    voices.push(voice);
    return voice;
  }

  function show(voice: Voice, released: GateOutput): Piece[] {
    const { part, kind } = voice;
    blocked ??= released.blocked;
    if (released.text === "") return [];
    textsOf(part).shown += released.text;
    voice.shown += released.text;
    return [{ part, kind, text: released.text }];
  }

  function release(voice: Voice, text: string): Piece[] {
    voice.generated += text;
    return show(voice, voice.gate.push(text));
  }

  /**
   * Flushes the escapes of the answer. A final answer without text is checked as an empty text, which may violate the
   * shape.
   */
  function lastWord(isFinal: boolean): Piece[] {
    const voice = voices.find(({ kind }) => kind === "output");
    if (voice) return release(voice, escapes?.end() ?? "");
    if (isFinal) newVoice("output", voices.at(-1)?.part ?? 0);
    return [];
  }

  function textsOf(part: number): { generated: string; shown: string } {
    const known = texts.get(part) ?? { generated: "", shown: "" };
    texts.set(part, known);
    return known;
  }

  return {
    /** Number of UTF-16 code units that the model has produced, shown or not. */
    length: () => length,
    /** The guardrail that ended the answer. */
    blocked: () => blocked,
    /** Returns the pieces that may be shown after this one. */
    push(piece: Piece): Piece[] {
      length += piece.text.length;
      if (outputGuardrails.length === 0) return [piece];
      if (blocked) return [];
      const [voice, ended] = voiceOf(piece);
      if (blocked) return ended;
      textsOf(piece.part).generated += piece.text;
      return [...ended, ...release(voice, piece.kind === "output" && escapes ? escapes.push(piece.text) : piece.text)];
    },
    /** Returns the withheld rest and all findings. An answer with tool calls (not final) need not fit the schema. */
    async end(isFinal: boolean): Promise<{ rest: Piece[]; findings: Finding[] }> {
      if (outputGuardrails.length === 0) return { rest: [], findings: [] };
      const last = blocked ? [] : lastWord(isFinal);
      const rest = [...last, ...voices.flatMap((voice) => (blocked ? [] : show(voice, voice.gate.end(isFinal))))];
      return { rest, findings: [...(await findingsOf(voices, isFinal && !blocked)), ...(blocked ? [blocked] : [])] };
    },
    /** Returns all text that was shown, for a judge. */
    shown: (): string => voices.map(({ shown }) => shown).join("\n\n"),
    /** Returns the parts that were not shown exactly as the model sent them. */
    changed: (): number[] => [...texts].flatMap(([part, { generated, shown }]) => (generated === shown ? [] : [part])),
  };
}
export type OutputGuard = ReturnType<typeof createOutputGuard>;

/** Returns the findings of flagging guardrails, and the redactions. */
async function findingsOf(voices: readonly Voice[], isWhole: boolean): Promise<Finding[]> {
  const flaggedFindings = await Promise.all(voices.map((voice) => flagged(voice, isWhole)));
  const sums = new Map<number, Finding>();
  for (const one of [...voices.flatMap(({ gate }) => gate.redacted()), ...flaggedFindings.flat()]) {
    const { index } = one.guardrail;
    sums.set(index, { ...one, matches: (sums.get(index)?.matches ?? 0) + one.matches });
  }
  return [...sums.values()].sort((a, b) => a.guardrail.index - b.guardrail.index);
}

async function flagged({ guardrails, generated }: Voice, isWhole: boolean): Promise<Finding[]> {
  const flags = guardrails.filter(
    ({ guardrail, kind }) => guardrail.action === "flag" && (isWhole || kind.about !== "shape"),
  );
  return (await searchInSlices(flags, "output", [generated])).flatMap((one) =>
    trigger(one, "output", inspectText(one, generated)),
  );
}
