/** A piece of two texts: in both, only in the first, or only in the second. */
export interface DiffPart {
  kind: "same" | "gone" | "new";
  text: string;
}

const mostEdits = 600;

/** What turns one text into another, word by word. */
export const diffWords = (before: string, after: string): DiffPart[] =>
  diffTokens(
    before.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [],
    after.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [],
  );

/** The same, line by line. Each line keeps its end. */
export const diffLines = (before: string, after: string): DiffPart[] =>
  diffTokens(before.match(/[^\n]*\n|[^\n]+$/g) ?? [], after.match(/[^\n]*\n|[^\n]+$/g) ?? []);

function diffTokens(before: readonly string[], after: readonly string[]): DiffPart[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++;
  const [a, b] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  return joined([
    ...before.slice(0, start).map((text) => part("same", text)),
    ...(shortestEdits(a, b) ?? [...a.map((text) => part("gone", text)), ...b.map((text) => part("new", text))]),
    ...before.slice(before.length - end).map((text) => part("same", text)),
  ]);
}

const part = (kind: DiffPart["kind"], text: string): DiffPart => ({ kind, text });

/** Myers' greedy search; null where the two have so little in common that nobody would read it. */
function shortestEdits(a: readonly string[], b: readonly string[]): DiffPart[] | null {
  const trail: Map<number, number>[] = [];
  let reach = new Map<number, number>([[1, 0]]);
  for (let edits = 0; edits <= Math.min(a.length + b.length, mostEdits); edits++) {
    trail.push(new Map(reach));
    for (let k = -edits; k <= edits; k += 2) {
      const isDown = k === -edits || (k !== edits && (reach.get(k - 1) ?? 0) < (reach.get(k + 1) ?? 0));
      let x = isDown ? (reach.get(k + 1) ?? 0) : (reach.get(k - 1) ?? 0) + 1;
      let y = x - k;
      while (x < a.length && y < b.length && a[x] === b[y]) [x, y] = [x + 1, y + 1];
      reach.set(k, x);
      if (x >= a.length && y >= b.length) return walkBack(a, b, trail);
    }
    reach = new Map(reach);
  }
  return null;
}

function walkBack(a: readonly string[], b: readonly string[], trail: readonly Map<number, number>[]): DiffPart[] {
  const parts: DiffPart[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = trail.length - 1; edits >= 0; edits--) {
    const reach = trail[edits]!;
    const k = x - y;
    const isDown = k === -edits || (k !== edits && (reach.get(k - 1) ?? 0) < (reach.get(k + 1) ?? 0));
    const fromK = isDown ? k + 1 : k - 1;
    const fromX = reach.get(fromK) ?? 0;
    const fromY = fromX - fromK;
    while (x > fromX && y > fromY && x > 0 && y > 0) {
      parts.push(part("same", a[x - 1]!));
      [x, y] = [x - 1, y - 1];
    }
    if (edits === 0) break;
    parts.push(isDown ? part("new", b[y - 1]!) : part("gone", a[x - 1]!));
    [x, y] = [fromX, fromY];
  }
  return parts.reverse();
}

/** Neighbours of one kind as one part; of a change, first what is gone. */
function joined(parts: readonly DiffPart[]): DiffPart[] {
  const result: DiffPart[] = [];
  let [gone, added] = ["", ""];
  const flush = () => {
    if (gone) result.push(part("gone", gone));
    if (added) result.push(part("new", added));
    [gone, added] = ["", ""];
  };
  for (const { kind, text } of parts) {
    if (kind === "gone") gone += text;
    else if (kind === "new") added += text;
    else {
      flush();
      const last = result.at(-1);
      if (last?.kind === "same") last.text += text;
      else result.push(part("same", text));
    }
  }
  flush();
  return result;
}
