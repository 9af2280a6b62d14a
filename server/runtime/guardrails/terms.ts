import { fold, foldedAscii, foldTerm } from "./fold.ts";
import { addSpan, type Scanner, type Span } from "./span.ts";

/** Aho-Corasick automaton of the terms. */
interface Tree {
  /** Returns the child of a node by a unit, or 0. */
  child(node: number, unit: number): number;
  /** Node of the longest proper suffix that is a prefix of a term. */
  fallback: number[];
  depth: number[];
  /** Length of the longest term that ends at the node, or 0. */
  longest: number[];
  /** 1 for ASCII units that begin a term. */
  begins: Uint8Array;
}

const blank = 32;

/**
 * Finds terms regardless of case, width, accents and lookalikes, also within longer words. The tree of a hundred
 * thousand characters takes 50 ms: it is built by the first scanner, or before in slices.
 */
export function createTermSearch(terms: readonly string[]): { scan(): Scanner; prepare(rest: Rest): Promise<void> } {
  const growing = growTree(terms);
  let tree: Tree | null = null;
  const grow = (): boolean => {
    const { done, value } = growing.next();
    if (done) tree ??= value ?? null;
    return !done;
  };
  return {
    scan() {
      while (!tree) grow();
      return new TermScanner(tree);
    },
    async prepare(rest) {
      while (!tree && grow()) await rest();
    },
  };
}

type Rest = () => Promise<void>;

// Number of tree nodes built between two yields.
const piece = 512;

/** Builds the tree; yields so that the caller can pause. */
function* growTree(terms: readonly string[]): Generator<undefined, Tree> {
  const children = new Map<number, number>();
  const tree: Tree = {
    child: (node, unit) => children.get(node * 0x110000 + unit) ?? 0,
    fallback: [0],
    depth: [0],
    longest: [0],
    begins: new Uint8Array(128),
  };
  /** Nodes by depth. */
  const levels: { node: number; parent: number; unit: number }[][] = [];
  let sliceLength = 0;
  for (const rawTerm of terms) {
    const term = foldTerm(rawTerm);
    if (term.length === 0) continue;
    let node = 0;
    for (const char of term) {
      const unit = char.codePointAt(0)!;
      let next = tree.child(node, unit);
      if (next === 0) {
        next = tree.depth.push(tree.depth[node]! + 1) - 1;
        children.set(node * 0x110000 + unit, next);
        const depth = tree.depth[next]! - 1;
        levels[depth] ??= [];
        levels[depth].push({ node: next, parent: node, unit });
        tree.longest.push(0);
        tree.fallback.push(0);
      }
      node = next;
    }
    tree.longest[node] = term.length;
    sliceLength += term.length;
    if (sliceLength < piece) continue;
    sliceLength = 0;
    yield;
  }
  // Breadth-first, because a node's fallback is always shallower than the node.
  for (const level of levels)
    for (const [index, { node, parent, unit }] of level.entries()) {
      if (parent !== 0) tree.fallback[node] = follow(tree, tree.fallback[parent]!, unit);
      tree.longest[node] ||= tree.longest[tree.fallback[node]!]!;
      if (index % piece === 0) yield;
    }
  tree.begins = tree.begins.map((_, unit) => (children.has(unit) ? 1 : 0));
  return tree;
}

function follow(tree: Tree, from: number, unit: number): number {
  for (let node = from; ; node = tree.fallback[node]!) {
    const next = tree.child(node, unit);
    if (next !== 0 || node === 0) return next;
  }
}

class TermScanner implements Scanner {
  readonly spans: Span[] = [];
  safe = 0;
  private position = 0;
  private node = 0;
  private wasBlank = false;
  /** Text positions of the units of the open prefix, one per level of the node. */
  private places: number[] = [];

  constructor(private readonly tree: Tree) {}

  push(text: string): void {
    const { begins } = this.tree;
    for (let index = 0; index < text.length; ) {
      const code = text.charCodeAt(index);
      if (this.node === 0 && code < 128 && begins[foldedAscii[code]!] === 0) {
        this.wasBlank = foldedAscii[code] === blank;
        this.position++;
        index++;
      } else {
        const char = String.fromCodePoint(text.codePointAt(index)!);
        this.take(char);
        index += char.length;
      }
    }
    this.safe = this.places[0] ?? this.position;
  }

  end(): void {
    this.safe = this.position;
  }

  private take(char: string): void {
    const from = this.position;
    this.position += char.length;
    const units = fold(char);
    const isBlank = units[0] === " ";
    if (isBlank && this.wasBlank) return;
    if (units.length > 0) this.wasBlank = isBlank;
    // Invisible characters belong to the term before them, so that they are redacted too.
    else if (this.spans.at(-1)?.[1] === from) this.spans.at(-1)![1] = this.position;
    for (const unit of units) this.read(unit.codePointAt(0)!, from);
  }

  private read(unit: number, from: number): void {
    const { depth, longest } = this.tree;
    this.node = follow(this.tree, this.node, unit);
    this.places.push(from);
    const [deep, length] = [depth[this.node]!, longest[this.node]!];
    if (this.places.length > deep) this.places.splice(0, this.places.length - deep);
    if (length === 0) return;
    addSpan(this.spans, this.places[deep - length]!, this.position);
  }
}
