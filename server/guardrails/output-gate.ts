import { type CompiledGuardrail, type CompiledGuardrails, guardrailsOn } from "./compile.ts";
import { inspectText, type Triggered, trigger } from "./inspect.ts";
import { createRedaction } from "./redaction.ts";
import type { Scanner } from "./span.ts";

/** What may be sent now; with `blocked`, nothing more will follow. */
export interface Released {
  text: string;
  blocked: Triggered | null;
}

/** Stands between a model that speaks and those who listen. */
export interface OutputGate {
  /** Nothing is released before the end: something looks at the whole. */
  readonly holdsAll: boolean;
  push(text: string): Released;
  /** The rest. Where a judge blocks, too, it is to be asked before this is sent. Only a final answer has to fit a schema. */
  end(isFinal?: boolean): Released;
  /** Those that took something out. */
  redacted(): Triggered[];
}

interface Watch {
  one: CompiledGuardrail;
  mark: string;
  scanner: Scanner;
}

/**
 * Releases streamed text as soon as it is certain that it is not part of anything that `redact` or `block` keep back. How
 * the text was cut makes no difference: what is released is what {@link screenText} makes of the whole. A block is known
 * at a certain character; what was released then is what the text up to there gives, as far as nothing was open for any
 * guardrail that blocks.
 */
export function createOutputGate(list: CompiledGuardrails): OutputGate {
  const here = guardrailsOn(list, "output");
  const of = (action: string) => here.filter(({ guardrail }) => guardrail.action === action);
  const redactors = watches(of("redact"));
  const blockers = watches(of("block"));
  const schemas = of("block").filter(({ kind }) => kind.fits);
  const holdsAll = of("block").some(({ places }) => places.length === 0);
  const redaction = createRedaction(redactors.map(({ mark, scanner }) => ({ mark, spans: scanner.spans })));
  let [held, sent, read, half] = ["", 0, 0, ""];
  let closed = false;

  function release(to: number): string {
    const text = redaction.write(held.slice(0, to - sent), sent);
    held = held.slice(to - sent);
    sent = to;
    return text;
  }

  /** Reads a piece, character by character where one of them could be the last. */
  function take(piece: string): Released | null {
    held += piece;
    let index = 0;
    if (blockers.length > 0)
      for (const char of piece) {
        index += char.length;
        for (const { scanner } of blockers) scanner.push(char);
        const blocked = block(piece.slice(0, index));
        if (blocked) return blocked;
      }
    for (const { scanner } of redactors) scanner.push(piece);
    read += piece.length;
    return null;
  }

  /** If a blocker has found something: what stands before it, as if the text ended here. */
  function block(unread: string): Released | null {
    const hit = firstOf(blockers);
    if (!hit) return null;
    closed = true;
    for (const { scanner } of redactors) {
      scanner.push(unread);
      scanner.end();
    }
    const open = blockers.map(({ scanner }) => scanner.safe);
    return { text: holdsAll ? "" : release(Math.min(startOf(hit), ...open)), blocked: blockedBy(hit.one) };
  }

  return {
    holdsAll,
    push(text) {
      if (closed) return nothing;
      const whole = half + text;
      half = /[\ud800-\udbff]$/.exec(whole)?.[0] ?? "";
      const blocked = take(half ? whole.slice(0, -1) : whole);
      if (blocked) return blocked;
      const safe = holdsAll ? 0 : Math.min(read, ...[...blockers, ...redactors].map(({ scanner }) => scanner.safe));
      return { text: release(safe), blocked: null };
    },
    end(isFinal = true) {
      if (closed) return nothing;
      const early = take(half);
      if (early) return early;
      for (const { scanner } of blockers) scanner.end();
      const late = block("");
      if (late) return late;
      closed = true;
      for (const { scanner } of redactors) scanner.end();
      const unfit = isFinal && schemas.find((one) => inspectText(one, held) > 0);
      return unfit ? { text: "", blocked: blockedBy(unfit) } : { text: release(read), blocked: null };
    },
    redacted: () => {
      const matches = Map.groupBy(redactors.keys(), (i) => redactors[i]!.one);
      return [...matches].flatMap(([one, places]) =>
        trigger(
          one,
          "output",
          places.reduce((sum, i) => sum + redaction.matches[i]!, 0),
        ),
      );
    },
  };
}

const nothing: Released = { text: "", blocked: null };

const watches = (list: readonly CompiledGuardrail[]): Watch[] =>
  list.flatMap((one) => one.places.map(({ detector, mark }) => ({ one, mark, scanner: detector.scan() })));

const blockedBy = (one: CompiledGuardrail): Triggered => trigger(one, "output", 1)[0]!;

const startOf = ({ scanner }: Watch): number => scanner.spans[0]?.[0] ?? Number.POSITIVE_INFINITY;

/** Of those that have found something, the one whose finding begins first. */
function firstOf(blockers: readonly Watch[]): Watch | null {
  let best: Watch | null = null;
  for (const each of blockers)
    if (each.scanner.spans.length > 0 && (!best || startOf(each) < startOf(best))) best = each;
  return best;
}
