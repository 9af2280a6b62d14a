/**
 * Searches a text for many needles at once, character by character (Aho–Corasick). A state is the longest begun prefix.
 */
export class AhoCorasick {
  /** By state: number of characters read of a needle. */
  readonly depths: Int32Array;
  /** By state: length of the longest needle that ends here, or 0. */
  readonly ends: Int32Array;
  /** Length of the longest needle. */
  readonly longest: number;
  /** By character below 256: 1 if a needle begins with it. */
  readonly begins = new Uint8Array(256);
  // The states of a needle are consecutive, so most steps are one comparison. A state without a depth separates two
  // needles.
  private readonly codes: Uint16Array;
  private readonly fails: Int32Array;
  // Steps at which needles branch, by state and character.
  private readonly forks = new Map<number, number>();

  /** `anyCase`: the letters A to Z are read as a to z. */
  constructor(
    needles: readonly string[],
    readonly anyCase = false,
  ) {
    const size = needles.reduce((sum, { length }) => sum + length + 1, 1);
    this.longest = needles.reduce((most, { length }) => Math.max(most, length), 0);
    this.depths = new Int32Array(size + 1);
    this.ends = new Int32Array(size + 1);
    this.fails = new Int32Array(size + 1);
    this.codes = new Uint16Array(size + 1);
    const parents = new Map<number, number>();
    let states = 1;
    for (const needle of needles) {
      let state = 0;
      for (let index = 0; index < needle.length; index++) {
        const code = this.read(needle.charCodeAt(index));
        const known = this.child(state, code);
        if (known === 0) {
          if (state !== states - 1) {
            this.forks.set(state * 65_536 + code, states);
            parents.set(states, state);
          }
          this.codes[states] = code;
          this.depths[states] = this.depths[state]! + 1;
          if (state === 0 && code < 256) this.begins[code] = 1;
        }
        state = known || states++;
      }
      this.ends[state] = needle.length;
      states++;
    }
    if (this.anyCase) for (let code = 65; code <= 90; code++) this.begins[code] = this.begins[code + 32]!;
    for (const state of this.byDepth(states)) this.fall(state, parents.get(state) ?? state - 1);
  }

  /** Returns the state after one more character. */
  next(state: number, character: number): number {
    const code = this.read(character);
    for (let at = state; ; at = this.fails[at]!) {
      const child = this.child(at, code);
      if (child !== 0 || at === 0) return child;
    }
  }

  private read(code: number): number {
    return this.anyCase && code >= 65 && code <= 90 ? code + 32 : code;
  }

  private child(state: number, code: number): number {
    const after = state + 1;
    if (this.codes[after] === code && this.depths[after] === this.depths[state]! + 1) return after;
    return this.forks.get(state * 65_536 + code) ?? 0;
  }

  /**
   * Sets the fallback for a state without a step for a character: the longest suffix of its text that begins a needle.
   */
  private fall(state: number, parent: number): void {
    this.fails[state] = parent === 0 ? 0 : this.next(this.fails[parent]!, this.codes[state]!);
    this.ends[state] ||= this.ends[this.fails[state]!]!;
  }

  private byDepth(states: number): Int32Array {
    const places = new Int32Array(this.longest + 2);
    for (let state = 1; state < states; state++) if (this.depths[state]! > 0) places[this.depths[state]! + 1]!++;
    for (let depth = 1; depth < places.length; depth++) places[depth]! += places[depth - 1]!;
    const sorted = new Int32Array(places.at(-1)!);
    for (let state = 1; state < states; state++)
      if (this.depths[state]! > 0) sorted[places[this.depths[state]!]!++] = state;
    return sorted;
  }
}
