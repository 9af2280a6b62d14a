import { firstItem } from "../../lib/collections.ts";
import { type CompiledGuardrail, type CompiledGuardrails, guardrailsOn } from "./compile.ts";
import { inspectText, type Triggered, trigger } from "./inspect.ts";
import { createRedaction } from "./redaction.ts";
import type { Scanner } from "./span.ts";

/** Text that may be sent now; after `blocked` nothing follows. */
export interface GateOutput {
  text: string;
  blocked: Triggered | null;
}

/** Filters a model's stream before it reaches readers. */
export interface OutputGate {
  /** True if nothing is released before the end, because a guardrail judges the whole text. */
  readonly holdsAll: boolean;
  push(text: string): GateOutput;
  /** Returns the rest. Blocking judges have to be asked before it is sent. Only a final answer has to fit a schema. */
  end(isFinal?: boolean): GateOutput;
  /** Returns the guardrails that redacted text. */
  redacted(): Triggered[];
}

interface Watch {
  one: CompiledGuardrail;
  mark: string;
  scanner: Scanner;
}

/**
 * Releases streamed text once it is certain that no `redact` or `block` guardrail applies to it. The output does not
 * depend on how the text was split: it equals {@link screenText} of the whole. A block is detected at one character;
 * the text released before it was not part of an open match of any blocking guardrail.
 */
export function createOutputGate(list: CompiledGuardrails): OutputGate {
  const activeGuardrails = guardrailsOn(list, "output");
  const of = (action: string) => activeGuardrails.filter(({ guardrail }) => guardrail.action === action);
  const redactors = watches(of("redact"));
  const blockers = watches(of("block"));
  const schemas = of("block").filter(({ kind }) => kind.fits);
  const holdsAll = of("block").some(({ places }) => places.length === 0);
  const redaction = createRedaction(redactors.map(({ mark, scanner }) => ({ mark, spans: scanner.spans })));
  let [buffer, sent, read, half] = ["", 0, 0, ""];
  let closed = false;

  function release(to: number): string {
    const text = redaction.write(buffer.slice(0, to - sent), sent);
    buffer = buffer.slice(to - sent);
    sent = to;
    return text;
  }

  /** Reads a piece, character by character if there are blocking guardrails. */
  function take(piece: string): GateOutput | null {
    buffer += piece;
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

  /** If a blocking guardrail has matched, returns the text before the match as if the text ended here, or null. */
  function block(unread: string): GateOutput | null {
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
      const unfit = isFinal && schemas.find((one) => inspectText(one, buffer) > 0);
      return unfit ? { text: "", blocked: blockedBy(unfit) } : { text: release(read), blocked: null };
    },
    redacted: () => {
      const matches = Map.groupBy(redactors.entries(), ([, { one }]) => one);
      return [...matches].flatMap(([one, places]) =>
        trigger(
          one,
          "output",
          places.reduce((sum, [i]) => sum + (redaction.matches[i] ?? 0), 0),
        ),
      );
    },
  };
}

const nothing: GateOutput = { text: "", blocked: null };

const watches = (list: readonly CompiledGuardrail[]): Watch[] =>
  list.flatMap((one) => one.places.map(({ detector, mark }) => ({ one, mark, scanner: detector.scan() })));

const blockedBy = (one: CompiledGuardrail): Triggered => firstItem(trigger(one, "output", 1));

const startOf = ({ scanner }: Watch): number => scanner.spans[0]?.[0] ?? Number.POSITIVE_INFINITY;

/** Returns the blocking guardrail whose match begins first, or null. */
function firstOf(blockers: readonly Watch[]): Watch | null {
  let best: Watch | null = null;
  for (const each of blockers)
    if (each.scanner.spans.length > 0 && (!best || startOf(each) < startOf(best))) best = each;
  return best;
}
