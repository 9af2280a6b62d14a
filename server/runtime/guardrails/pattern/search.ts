import type { Span } from "../span.ts";
import { beside, edgeHolds, op, type Program } from "./program.ts";
import { PatternScanner } from "./scanner.ts";

const statesMax = 1000;
const classesMax = 128;
const unknown = -1;
const found = -2;
// Exceeds the table: the scanner reads the rest.
const overflow = -3;

interface State {
  ways: Int32Array;
  before: number;
}

/**
 * Returns all spans of a whole text, like the scanner but faster: a lazily built DFA skips text without a match, and
 * the scanner reads only from the last position where no match was open.
 */
export function createSearch(program: Program): (text: string) => Span[] {
  const table = createTable(program);
  const scanner = new PatternScanner(program);

  return (text) => {
    const spans: Span[] = [];
    let [index, before] = [0, beside.nothing as number];
    while (index < text.length) {
      const hit = table.firstHit(text, index, before);
      if (!hit) break;
      scanner.restart(hit.index, hit.before);
      index = hit.index;
      // At least until the end of the hit, because the scanner may be idle before.
      do index = scanner.read(text, index, true);
      while (index < text.length && index < hit.end);
      before = scanner.context;
      if (index >= text.length) scanner.end();
      for (const [start, end] of scanner.spans) joinLast(spans, start, end);
    }
    return spans;
  };
}

function joinLast(spans: Span[], start: number, end: number): void {
  const last = spans.at(-1);
  if (last && last[1] >= start) last[1] = Math.max(last[1], end);
  else spans.push([start, end]);
}

interface Hit {
  /** Last position before the match where no match was open, and the kind of the character in front of it. */
  index: number;
  before: number;
  /** Position behind the character that completed the match. */
  end: number;
}

// Idle states come first: their ids are the kinds of the character before.
const idleStates = Object.values(beside);

function createTable(program: Program) {
  const { classes } = program;
  let states: State[] = [];
  let next = new Int32Array(0);
  let known = new Map<string, number>();

  function reset(): void {
    states = [];
    known = new Map();
    next = new Int32Array(64 * classesMax).fill(unknown);
    for (const before of idleStates) intern(new Int32Array(0), before);
  }

  function intern(ways: Int32Array, before: number): number {
    const sign = `${before}:${ways.join()}`;
    let id = known.get(sign);
    if (id === undefined) {
      id = states.push({ ways, before }) - 1;
      known.set(sign, id);
      if (states.length * classesMax > next.length) {
        const larger = new Int32Array(next.length * 2).fill(unknown);
        larger.set(next);
        next = larger;
      }
    }
    return id;
  }

  /** Returns the next state, or `found`. */
  function transition(from: number, cls: number): number {
    const { ways, before } = states[from]!;
    const [kind, reached] = [classes.kinds[cls]!, new Set<number>()];
    const isMatch = move(program, ways, before, cls, kind, reached);
    const to = isMatch ? found : intern(Int32Array.from(reached).sort(), kind);
    next[from * classesMax + cls] = to;
    return to;
  }

  reset();
  return {
    firstHit(text: string, from: number, before: number): Hit | null {
      if (states.length > statesMax) reset();
      let table = next;
      let [state, idleAt, idle] = [before, from, before];
      for (let index = from; index < text.length; ) {
        let code = text.charCodeAt(index);
        let cls = code < 128 ? classes.ascii[code]! : -1;
        if (cls < 0) {
          code = text.codePointAt(index)!;
          cls = classes.of(code);
        }
        let to = cls < classesMax ? table[state * classesMax + cls]! : overflow;
        if (to === unknown) {
          to = states.length > statesMax ? overflow : transition(state, cls);
          table = next;
        }
        index += code > 0xffff ? 2 : 1;
        if (to < 0) return { index: idleAt, before: idle, end: to === found ? index : text.length };
        state = to;
        if (to < idleStates.length) {
          idleAt = index;
          idle = to;
        }
      }
      const { ways, before: last } = states[state]!;
      const open = move(program, ways, last, -1, beside.nothing, new Set());
      return open ? { index: idleAt, before: idle, end: text.length } : null;
    },
  };
}

/** Adds to `reached` the instructions behind a character; returns true if a match was found. */
function move(
  { ops, args, first, follow, classes }: Program,
  ways: Int32Array,
  before: number,
  cls: number,
  kind: number,
  reached: Set<number>,
): boolean {
  const seen = new Set<number>();
  const waiting = [...ways, ...first];
  const fits = classes.fits[cls];
  let matched = false;
  for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
    if (seen.has(i)) continue;
    seen.add(i);
    if (ops[i] === op.match) matched = true;
    else if (ops[i] === op.edge) {
      if (edgeHolds(args[i]!, before, kind)) waiting.push(...follow(i));
    } else if (fits?.[args[i]!] === 1)
      for (const each of follow(i)) {
        if (ops[each] === op.match) matched = true;
        else reached.add(each);
      }
  }
  return matched;
}
