import { assemble, type Code, f32, get, i32, loop, set, typeOf, v128 } from "./wasm.ts";

/** Bytes before each vector: its factor, its quantization error and its tag. */
export const head = 16;
/** Bytes of a vector per loop iteration; vectors are padded with zeros to a multiple. */
export const padding = 32;
/** Bytes of a hit: the address of its row and its product. */
export const hitBytes = 8;

export interface DotScan {
  readonly memory: WebAssembly.Memory;
  /**
   * Multiplies the rows from `row` to `end`, each of `size` bytes, with the query at `query` (16-bit numbers). A row's
   * product is its sum times its factor times `scale`. If product plus `reach` times the row's error is at least `bar`,
   * the row is written to `hits`. Returns the end of the hits. All positions are byte addresses.
   */
  run(
    ...numbers: [
      ...places: [row: number, end: number, size: number, query: number, hits: number],
      ...factors: [scale: number, reach: number, bar: number],
    ]
  ): number;
}

let compiled: WebAssembly.Module | null = null;

/** Creates a scan with its own memory. */
export function createDotScan(): DotScan {
  compiled ??= compile();
  return new WebAssembly.Instance(compiled).exports as unknown as DotScan;
}

function compile(): WebAssembly.Module {
  try {
    return new WebAssembly.Module(code());
  } catch (cause) {
    throw new Error("This processor lacks the vector instructions (SSE4.1 or NEON) that a search needs.", { cause });
  }
}

const [row, end, size, query, hits, scale, reach, bar] = [0, 1, 2, 3, 4, 5, 6, 7] as const;
const [at, queryAt, rowEnd, product, total] = [8, 9, 10, 11, 12] as const;

function code(): Uint8Array<ArrayBuffer> {
  const parameters = [...new Array(5).fill(typeOf.i32), ...new Array(3).fill(typeOf.f32)];
  const locals = [typeOf.i32, typeOf.i32, typeOf.i32, typeOf.f32, typeOf.v128];
  const body = [...loop(oneRow(), i32.lessThan(get(row), get(end))), ...get(hits)];
  return assemble(parameters, locals, typeOf.i32, body);
}

/**
 * Multiplies one row. Rows are scanned one by one: the processor prefetches one sequential read better than several.
 */
function oneRow(): Code[] {
  return [
    set(at, i32.add(get(row), i32.const(head))),
    set(rowEnd, i32.add(get(row), get(size))),
    set(queryAt, get(query)),
    set(total, v128.zero),
    loop(bytes(), i32.lessThan(get(at), get(rowEnd))),
    set(product, f32.multiply(f32.from(sumOfLanes()), f32.multiply(f32.load(get(row)), get(scale)))),
    i32.store(get(hits), get(row)),
    f32.store(get(hits), get(product), 4),
    // Every row is written, and overwritten by the next unless it was a hit: cheaper than a branch.
    set(hits, i32.add(get(hits), i32.shiftLeft(isHit(), 3))),
    set(row, get(rowEnd)),
  ];
}

const isHit = () => f32.notLess(f32.add(get(product), f32.multiply(f32.load(get(row), 4), get(reach))), get(bar));

function bytes(): Code[] {
  const eight = (index: number) => v128.dot(v128.loadBytes(get(at), 8 * index), v128.load(get(queryAt), 16 * index));
  const sum = v128.add(v128.add(eight(0), eight(1)), v128.add(eight(2), eight(3)));
  return [
    set(total, v128.add(get(total), sum)),
    set(at, i32.add(get(at), i32.const(padding))),
    set(queryAt, i32.add(get(queryAt), i32.const(2 * padding))),
  ];
}

function sumOfLanes(): Code {
  const lane = (index: number) => v128.lane(get(total), index);
  return i32.add(i32.add(lane(0), lane(1)), i32.add(lane(2), lane(3)));
}
