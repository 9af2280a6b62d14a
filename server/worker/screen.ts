import type { Finding } from "../core/guardrail-event.ts";
import { type CompiledGuardrails, except, guardrailsOn } from "../guardrails/compile.ts";
import { searched } from "../guardrails/in-slices.ts";
import { inspectText, trigger } from "../guardrails/inspect.ts";
import { createOutputGate, type OutputGate, type Released } from "../guardrails/output-gate.ts";
import { createPlainEscapes } from "../guardrails/plain-escapes.ts";
import type { ModelEvent } from "../models/port.ts";

/** A piece of an answer that may be heard. */
export type Piece = Pick<Extract<ModelEvent, { type: "delta" }>, "part" | "kind" | "text">;

interface Voice {
  kind: Piece["kind"];
  /** The part that it speaks now. */
  part: number;
  guardrails: CompiledGuardrails;
  gate: OutputGate;
  said: string;
  shown: string;
}

/**
 * Stands between a model and those who hear it. All text of an answer is one text to the guardrails, since its readers
 * join it; each part of its reasoning is a text of its own. What it holds back is not in the journal either.
 */
export function createScreen(list: CompiledGuardrails, { isJson = false }: { isJson?: boolean } = {}) {
  const here = guardrailsOn(list, "output");
  // Whoever parses JSON reads what its escapes stand for.
  const escapes = isJson ? createPlainEscapes() : null;
  // Reasoning is no answer: it has no shape, and may be as long as it likes.
  const overReasoning = except(here, "shape", "length");
  const voices: Voice[] = [];
  const heard = new Map<number, { said: string; shown: string }>();
  let said = 0;
  let blocked: Finding | null = null;

  /** Who speaks this part; whoever has thought before has ended. */
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
    const guardrails = kind === "output" ? here : overReasoning;
    const voice = { kind, part, guardrails, gate: createOutputGate(guardrails), said: "", shown: "" };
    voices.push(voice);
    return voice;
  }

  function show(voice: Voice, released: Released): Piece[] {
    const { part, kind } = voice;
    blocked ??= released.blocked;
    if (released.text === "") return [];
    heardOf(part).shown += released.text;
    voice.shown += released.text;
    return [{ part, kind, text: released.text }];
  }

  function say(voice: Voice, text: string): Piece[] {
    voice.said += text;
    return show(voice, voice.gate.push(text));
  }

  /** What is left of the voice of the answer. One that was never heard has said nothing, which may be no shape either. */
  function lastWord(isFinal: boolean): Piece[] {
    const voice = voices.find(({ kind }) => kind === "output");
    if (voice) return say(voice, escapes?.end() ?? "");
    if (isFinal) newVoice("output", voices.at(-1)?.part ?? 0);
    return [];
  }

  function heardOf(part: number): { said: string; shown: string } {
    const known = heard.get(part) ?? { said: "", shown: "" };
    heard.set(part, known);
    return known;
  }

  return {
    /** UTF-16 code units that the model has said, heard or not. */
    said: () => said,
    /** The guardrail that ended the answer. */
    blocked: () => blocked,
    /** What may be heard now that the model has said this. */
    push(piece: Piece): Piece[] {
      said += piece.text.length;
      if (here.length === 0) return [piece];
      if (blocked) return [];
      const [voice, ended] = voiceOf(piece);
      if (blocked) return ended;
      heardOf(piece.part).said += piece.text;
      return [...ended, ...say(voice, piece.kind === "output" && escapes ? escapes.push(piece.text) : piece.text)];
    },
    /** The rest. An answer that asks for tools is not the one that has to fit a schema. */
    async end(isFinal: boolean): Promise<{ rest: Piece[]; findings: Finding[] }> {
      if (here.length === 0) return { rest: [], findings: [] };
      const last = blocked ? [] : lastWord(isFinal);
      const rest = [...last, ...voices.flatMap((voice) => (blocked ? [] : show(voice, voice.gate.end(isFinal))))];
      return { rest, findings: [...(await findingsOf(voices, isFinal && !blocked)), ...(blocked ? [blocked] : [])] };
    },
    /** All that was let through, for a judge. */
    shown: (): string => voices.map(({ shown }) => shown).join("\n\n"),
    /** The parts of which not all was shown as it was said. */
    changed: (): number[] => [...heard].flatMap(([part, { said, shown }]) => (said === shown ? [] : [part])),
  };
}
export type Screen = ReturnType<typeof createScreen>;

/** What those that only note something note, and what was taken out. */
async function findingsOf(voices: readonly Voice[], isWhole: boolean): Promise<Finding[]> {
  const noted = await Promise.all(voices.map((voice) => flagged(voice, isWhole)));
  const sums = new Map<number, Finding>();
  for (const one of [...voices.flatMap(({ gate }) => gate.redacted()), ...noted.flat()]) {
    const { index } = one.guardrail;
    sums.set(index, { ...one, matches: (sums.get(index)?.matches ?? 0) + one.matches });
  }
  return [...sums.values()].sort((a, b) => a.guardrail.index - b.guardrail.index);
}

async function flagged({ guardrails, said }: Voice, isWhole: boolean): Promise<Finding[]> {
  const flags = guardrails.filter(
    ({ guardrail, kind }) => guardrail.action === "flag" && (isWhole || kind.about !== "shape"),
  );
  return (await searched(flags, "output", [said])).flatMap((one) => trigger(one, "output", inspectText(one, said)));
}
