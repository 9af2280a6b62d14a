import { type Edge, edges, PatternFault, type PatternNode } from "./syntax.ts";

export const op = { char: 0, split: 1, edge: 2, match: 3 } as const;

/** Kinds of characters beside a position, for the edge tests. */
export const beside = { nothing: 0, word: 1, newline: 2, other: 3 } as const;

/** A compiled pattern. Characters are grouped into classes, so that each is tested only once. */
export interface Program {
  ops: Uint8Array;
  /** Index of an edge, or of a character test. */
  args: Uint16Array;
  /** Entry instructions that consume, test or match. */
  first: Int32Array;
  /** Returns the same kinds of instructions directly behind instruction i. */
  follow: (i: number) => Int32Array;
  classes: Classes;
}

interface Classes {
  of(code: number): number;
  /** Cached classes of ASCII characters, or -1. */
  ascii: Int16Array;
  /** 1 if characters of the class pass the test, else 0; by class and test. */
  fits: Uint8Array[];
  /** Kind of the class for an edge beside it. */
  kinds: number[];
  /** True if a match can begin with a character of the class. */
  begins: boolean[];
}

interface Draft {
  ops: number[];
  args: number[];
  out: number[];
  alt: number[];
}

const knownMax = 65_536;

/** Throws a {@link PatternFault} if the pattern has more than `sizeMax` instructions or matches the empty text. */
export function compilePattern(root: PatternNode, sizeMax: number): Program {
  const size = sizeOf(root);
  if (size > sizeMax) throw new PatternFault(`it is too large: ${size} steps, counted repetitions written out`);
  if (mayBeEmpty(root)) throw new PatternFault("it matches the empty text, which stands everywhere");
  const draft: Draft = { ops: [], args: [], out: [], alt: [] };
  const tests = new Map<string, number>();
  const entry = emit(root, add(draft, op.match), draft, tests);
  const ops = Uint8Array.from(draft.ops);
  const args = Uint16Array.from(draft.args);
  const reach = reaching(draft);
  const asks = draft.ops.includes(op.edge);
  const first = reach(entry);
  const follows: (Int32Array | undefined)[] = [];
  const follow = (i: number): Int32Array => {
    follows[i] ??= reach(draft.out[i]!);
    return follows[i];
  };
  const starts = startTests(first, ops, args, follow);
  return { ops, args, first, follow, classes: classify(tests, starts, asks) };
}

/** Returns the approximate number of instructions of a pattern without creating them. */
export function sizeOf(node: PatternNode): number {
  if (node.kind === "all" || node.kind === "any") return node.of.reduce((sum, each) => sum + sizeOf(each), 1);
  if (node.kind !== "repeat") return 1;
  const times = node.max === Number.POSITIVE_INFINITY ? node.min + 1 : node.max;
  return 1 + sizeOf(node.of) * Math.max(1, times) + times;
}

function mayBeEmpty(node: PatternNode): boolean {
  if (node.kind === "char") return false;
  if (node.kind === "all") return node.of.every(mayBeEmpty);
  if (node.kind === "any") return node.of.some(mayBeEmpty);
  return node.kind !== "repeat" || node.min === 0 || mayBeEmpty(node.of);
}

function add({ ops, args, out, alt }: Draft, code: number, arg = 0, next = -1, other = -1): number {
  args.push(arg);
  out.push(next);
  alt.push(other);
  return ops.push(code) - 1;
}

/** Appends a node in front of `next`; returns its first instruction. */
function emit(node: PatternNode, next: number, draft: Draft, tests: Map<string, number>): number {
  switch (node.kind) {
    case "char": {
      const key = `${node.flags}/${node.source}`;
      if (!tests.has(key)) tests.set(key, tests.size);
      return add(draft, op.char, tests.get(key), next);
    }
    case "edge":
      return add(draft, op.edge, edges.indexOf(node.edge), next);
    case "all":
      return node.of.reduceRight((behind, each) => emit(each, behind, draft, tests), next);
    case "any":
      return node.of
        .map((each) => emit(each, next, draft, tests))
        .reduceRight((other, each) => add(draft, op.split, 0, each, other));
    case "repeat":
      return emitRepeat(node, next, draft, tests);
  }
}

function emitRepeat(
  { of, min, max }: Extract<PatternNode, { kind: "repeat" }>,
  next: number,
  draft: Draft,
  tests: Map<string, number>,
): number {
  let [place, copies] = [next, min];
  if (max === Number.POSITIVE_INFINITY) {
    const loop = add(draft, op.split, 0, -1, next);
    const body = emit(of, loop, draft, tests);
    draft.out[loop] = body;
    place = min > 0 ? body : loop;
    copies = Math.max(0, min - 1);
  } else for (let i = min; i < max; i++) place = add(draft, op.split, 0, emit(of, place, draft, tests), next);
  for (let i = 0; i < copies; i++) place = emit(of, place, draft, tests);
  return place;
}

/** Returns a function that follows splits to the instructions behind them. */
function reaching({ ops, out, alt }: Draft): (from: number) => Int32Array {
  const seen = new Int32Array(ops.length);
  let round = 0;
  return (from) => {
    round++;
    const found: number[] = [];
    const waiting = [from];
    for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
      if (seen[i] === round) continue;
      seen[i] = round;
      if (ops[i] === op.split) waiting.push(alt[i]!, out[i]!);
      else found.push(i);
    }
    return Int32Array.from(found);
  };
}

/** Returns the character tests that can apply to the first character of a match, ignoring edges. */
function startTests(
  first: Int32Array,
  ops: Uint8Array,
  args: Uint16Array,
  follow: (i: number) => Int32Array,
): Set<number> {
  const found = new Set<number>();
  const seen = new Set<number>();
  const waiting = [...first];
  for (let i = waiting.pop(); i !== undefined; i = waiting.pop()) {
    if (seen.has(i)) continue;
    seen.add(i);
    if (ops[i] === op.char) found.add(args[i]!);
    else if (ops[i] === op.edge) waiting.push(...follow(i));
  }
  return found;
}

function classify(tests: Map<string, number>, starts: ReadonlySet<number>, asks: boolean): Classes {
  const native = [...tests.keys()].map((key) => {
    const [flags = "u", ...source] = key.split("/");
    return new RegExp(`^(?:${source.join("/")})$`, flags);
  });
  const members: Uint8Array[] = [];
  const kinds: number[] = [];
  const begins: boolean[] = [];
  const bySign = new Map<string, number>();
  const ascii = new Int16Array(128).fill(-1);
  const others = new Map<number, number>();

  function look(code: number): number {
    const char = String.fromCodePoint(code);
    const fits = native.map((test) => test.test(char));
    const kind = asks ? kindOf(code) : beside.other;
    const sign = `${kind}${fits.map(Number).join("")}`;
    let cls = bySign.get(sign);
    if (cls === undefined) {
      cls = members.push(Uint8Array.from(fits, Number)) - 1;
      kinds.push(kind);
      begins.push(fits.some((fit, test) => fit && starts.has(test)));
      bySign.set(sign, cls);
    }
    return cls;
  }

  return {
    ascii,
    of(code) {
      if (code < 128) {
        const known = ascii[code]!;
        if (known >= 0) return known;
        ascii[code] = look(code);
        return ascii[code]!;
      }
      let cls = others.get(code);
      if (cls === undefined) {
        if (others.size >= knownMax) others.clear(); // Bounds the cache for texts with very many different characters.
        cls = look(code);
        others.set(code, cls);
      }
      return cls;
    },
    fits: members,
    kinds,
    begins,
  };
}

const kindOf = (code: number): number =>
  code === 10 ? beside.newline : code < 128 && /\w/.test(String.fromCharCode(code)) ? beside.word : beside.other;

/** True if the edge holds between these two kinds of characters. */
export function edgeHolds(edge: number, before: number, behind: number): boolean {
  const name = edges[edge] as Edge;
  if (name === "begin_text") return before === beside.nothing;
  if (name === "end_text") return behind === beside.nothing;
  if (name === "begin_line") return before === beside.nothing || before === beside.newline;
  if (name === "end_line") return behind === beside.nothing || behind === beside.newline;
  return (before === beside.word) !== (behind === beside.word) ? name === "word" : name === "not_word";
}
