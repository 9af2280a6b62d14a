import { fold, foldedAscii, foldTerm } from "./fold.ts";
import { addSpan, type Scanner, type Span } from "./span.ts";

/** The terms as a tree, in which every node knows where to go on when the next unit does not fit. */
interface Tree {
  /** The child of a node by a unit, or 0. */
  child(node: number, unit: number): number;
  /** The longest other beginning of a term that the node ends with. */
  fallback: number[];
  depth: number[];
  /** Length of the longest term that the node ends with, or 0. */
  longest: number[];
  /** Which units of ASCII a term begins with. */
  begins: Uint8Array;
}

const blank = 32;

/**
 * Looks for terms in whatever case, width, accents and disguise they stand, also within longer words. The tree of a hundred
 * thousand characters takes 50 ms: it is made with the first scanner, or in slices before it.
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

// Of the tree between two rests.
const piece = 512;

/** Rests where it says nothing yet. */
function* growTree(terms: readonly string[]): Generator<undefined, Tree> {
  const children = new Map<number, number>();
  const tree: Tree = {
    child: (node, unit) => children.get(node * 0x110000 + unit) ?? 0,
    fallback: [0],
    depth: [0],
    longest: [0],
    begins: new Uint8Array(128),
  };
  /** By how deep they are. */
  const levels: { node: number; parent: number; unit: number }[][] = [];
  let grown = 0;
  for (const given of terms) {
    const term = foldTerm(given);
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
    grown += term.length;
    if (grown < piece) continue;
    grown = 0;
    yield;
  }
  // Shallow ones first: what a node falls back to is always shallower than itself.
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
  /** Where the units of the beginning that is open stand: as many as the node is deep. */
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
    this.safe = this.places.length > 0 ? this.places[0]! : this.position;
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
    // What is invisible belongs to the term before it: it would be left behind otherwise.
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
