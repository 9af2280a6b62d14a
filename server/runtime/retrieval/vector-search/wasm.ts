/** WebAssembly bytecode in order of execution. */
export type Code = readonly number[];

/** Encodes an unsigned number as LEB128. */
function leb128(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...leb128(value >>> 7)];
}

const vectorOf = (items: readonly Code[]) => [...leb128(items.length), ...items.flat()];
const section = (id: number, content: Code) => [id, ...leb128(content.length), ...content];
const nameOf = (name: string) => [...leb128(name.length), ...new TextEncoder().encode(name)];
const simd = (opcode: number): Code => [0xfd, ...leb128(opcode)];

export const typeOf = { i32: 0x7f, f32: 0x7d, v128: 0x7b } as const;

export const get = (local: number): Code => [0x20, ...leb128(local)];
export const set = (local: number, value: Code): Code => [...value, 0x21, ...leb128(local)];
export const i32 = {
  // Five bytes, so that no bit of a positive number is taken for its sign.
  const: (value: number): Code => [
    0x41,
    ...[0, 7, 14, 21].map((bits) => ((value >>> bits) & 0x7f) | 0x80),
    value >>> 28,
  ],
  add: (a: Code, b: Code): Code => [...a, ...b, 0x6a],
  shiftLeft: (value: Code, bits: number): Code => [...value, ...i32.const(bits), 0x74],
  lessThan: (a: Code, b: Code): Code => [...a, ...b, 0x49],
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0x36, 2, ...leb128(offset)],
};
export const f32 = {
  from: (integer: Code): Code => [...integer, 0xb2],
  load: (address: Code, offset = 0): Code => [...address, 0x2a, 2, ...leb128(offset)],
  store: (address: Code, value: Code, offset = 0): Code => [...address, ...value, 0x38, 2, ...leb128(offset)],
  add: (a: Code, b: Code): Code => [...a, ...b, 0x92],
  multiply: (a: Code, b: Code): Code => [...a, ...b, 0x94],
  notLess: (a: Code, b: Code): Code => [...a, ...b, 0x60],
};
export const v128 = {
  zero: [...simd(12), ...new Array<number>(16).fill(0)] as Code,
  load: (address: Code, offset = 0): Code => [...address, ...simd(0), 0, ...leb128(offset)],
  /** Loads eight signed bytes as eight 16-bit numbers. */
  loadBytes: (address: Code, offset = 0): Code => [...address, ...simd(1), 0, ...leb128(offset)],
  /** Returns four sums of two products each. */
  dot: (a: Code, b: Code): Code => [...a, ...b, ...simd(186)],
  add: (a: Code, b: Code): Code => [...a, ...b, ...simd(174)],
  lane: (vector: Code, lane: number): Code => [...vector, ...simd(27), lane],
};

/** Runs `body`, and repeats it while `again` is not 0. */
export const loop = (body: readonly Code[], again: Code): Code => [0x03, 0x40, ...body.flat(), ...again, 0x0d, 0, 0x0b];

/**
 * Builds a module with a memory (`memory`) and one function (`run`), given the types of its parameters, locals and
 * result.
 */
export function assemble(parameters: readonly number[], locals: readonly number[], result: number, body: Code) {
  const code = [...vectorOf(locals.map((type) => [1, type])), ...body, 0x0b];
  return new Uint8Array([
    0x00,
    0x61,
    0x73,
    0x6d,
    1,
    0,
    0,
    0,
    ...section(1, vectorOf([[0x60, ...vectorOf(parameters.map((type) => [type])), 1, result]])),
    ...section(3, vectorOf([[0]])),
    ...section(5, vectorOf([[0, 1]])),
    ...section(
      7,
      vectorOf([
        [...nameOf("memory"), 2, 0],
        [...nameOf("run"), 0, 0],
      ]),
    ),
    ...section(10, vectorOf([[...leb128(code.length), ...code]])),
  ]);
}
