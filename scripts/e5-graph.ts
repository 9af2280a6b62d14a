import protobuf from "protobufjs/minimal.js";

/** Source of a graph's weights: the bytes of a tensor by its name, float32 or groups of four bits. */
export type TensorBytes = (name: string) => Buffer;

export interface Shape {
  hidden: number;
  layers: number;
  heads: number;
  inner: number;
  /** Number of positions: the maximum number of tokens. */
  positions: number;
  epsilon: number;
}

/** Number of values in a row that share a scale. */
export const group = 32;
/** Bytes of a group: its scale in float16, and two values per byte. */
const groupBytes = 2 + group / 2;

// Type numbers of onnx.proto.
const types = { float: 1, int8: 3, int64: 7, int4: 22 };
const microsoft = "com.microsoft";

/**
 * Returns BERT as ONNX, from `input_ids` to `last_hidden_state`. Its word table stays in four bits; its products are in
 * int8, because onnxruntime in WebAssembly converts the four bits of a product to float32 at each call, which takes
 * three times as long.
 */
export function sentenceGraph(
  { hidden, layers, heads, inner, positions, epsilon }: Shape,
  bits: TensorBytes,
): Uint8Array {
  const { node, constant, finish } = createGraph();
  const floats = (name: string) => constant(name, "float", [hidden], bits(name));

  /** Input · weights + bias. */
  function product(input: string, name: string, [rows, columns]: [number, number]): string {
    const { values, scales } = asInt8(bits(`${name}.w`), [rows, columns]);
    const inputs = [
      input,
      constant(`${name}.w`, "int8", [columns, rows], values),
      constant(`${name}.s`, "float", [rows], scales),
      "",
      constant(`${name}.b`, "float", [rows], bits(`${name}.b`)),
    ];
    return node("DynamicQuantizeMatMul", inputs, `${name}.out`, {}, microsoft);
  }

  function normalized(one: string, other: string, name: string, output = `${name}.out`): string {
    const inputs = [one, other, floats(`${name}.w`), floats(`${name}.b`)];
    return node("SkipLayerNormalization", inputs, output, { epsilon }, microsoft);
  }

  function embedded(): string {
    const { scales, values } = parted(bits("emb.word"));
    const rows = (2 * values.length) / hidden;
    // Range -8 to 7 instead of 0 to 15.
    const signed = values.map((byte) => byte ^ 0x88);
    const table = constant("emb.word", "int4", [rows, hidden], signed);
    const inputs = [table, "input_ids", constant("emb.word.s", "float", [rows, hidden / group], bytesOf(scales))];
    const attributes = { gather_axis: 0, quantize_axis: 1, block_size: group };
    const words = node("GatherBlockQuantized", inputs, "words", attributes, microsoft);
    // All tokens have one type, whose vector is added to each position's.
    const type = floatsOf(bits("emb.type"));
    const places = floatsOf(bits("emb.pos")).map((value, index) => value + type[index % hidden]!);
    const zero = constant("zero", "int64", [1], bytesOf(BigInt64Array.of(0n)));
    const length = node("Shape", ["input_ids"], "length", { start: 1 });
    const table_of_places = constant("places", "float", [positions, hidden], bytesOf(places));
    const used = node("Slice", [table_of_places, zero, length], "places_used");
    return normalized(words, node("Unsqueeze", [used, zero], "places_each"), "emb.ln");
  }

  let state = embedded();
  for (let layer = 0; layer < layers; layer++) {
    const of = (name: string) => `l${layer}.${name}`;
    const asked = ["q", "k", "v"].map((name) => product(state, of(name), [hidden, hidden]));
    const attended = node("MultiHeadAttention", asked, of("attended"), { num_heads: heads }, microsoft);
    const met = normalized(state, product(attended, of("ao"), [hidden, hidden]), of("aln"));
    const wide = node("Gelu", [product(met, of("fi"), [inner, hidden])], of("wide"), {}, microsoft);
    const name = layer === layers - 1 ? "last_hidden_state" : of("state");
    state = normalized(met, product(wide, of("fo"), [hidden, inner]), of("oln"), name);
  }
  return finish({ name: "input_ids", type: "int64", dims: ["batch", "tokens"] }, [
    { name: state, type: "float", dims: ["batch", "tokens", hidden] },
  ]);
}

interface Value {
  name: string;
  type: keyof typeof types;
  dims: readonly (number | string)[];
}

/** Builds a model in the format of onnx.proto. */
function createGraph() {
  const nodes = protobuf.Writer.create();
  const constants = protobuf.Writer.create();
  return {
    /** Adds a node, and returns the name of its output. */
    node(op: string, inputs: readonly string[], output: string, attributes: Record<string, number> = {}, domain = "") {
      nodes.uint32(tag(1)).fork();
      for (const input of inputs) nodes.uint32(tag(1)).string(input);
      nodes.uint32(tag(2)).string(output).uint32(tag(4)).string(op).uint32(tag(7)).string(domain);
      for (const [name, value] of Object.entries(attributes)) nodes.uint32(tag(5)).bytes(attribute(name, value));
      nodes.ldelim();
      return output;
    },
    /** Adds a tensor, and returns its name. */
    constant(name: string, type: keyof typeof types, dims: readonly number[], bytes: Uint8Array) {
      constants.uint32(tag(5)).fork();
      for (const size of dims) constants.uint32(number(1)).int64(size);
      constants.uint32(number(2)).int32(types[type]).uint32(tag(8)).string(name).uint32(tag(9)).bytes(bytes).ldelim();
      return name;
    },
    finish(input: Value, outputs: readonly Value[]): Uint8Array {
      const about = protobuf.Writer.create().uint32(tag(2)).string("sentence model");
      about.uint32(tag(11)).bytes(described(input));
      for (const output of outputs) about.uint32(tag(12)).bytes(described(output));
      const model = protobuf.Writer.create().uint32(number(1)).int64(10);
      for (const [domain, version] of Object.entries({ "": 21, [microsoft]: 1 }))
        model.uint32(tag(8)).fork().uint32(tag(1)).string(domain).uint32(number(2)).int64(version).ldelim();
      const graph = Buffer.concat([nodes.finish(), constants.finish(), about.finish()]);
      return model.uint32(tag(7)).bytes(graph).finish();
    },
  };
}

function attribute(name: string, value: number): Uint8Array {
  const writer = protobuf.Writer.create().uint32(tag(1)).string(name);
  if (Number.isInteger(value)) return writer.uint32(number(3)).int64(value).uint32(number(20)).int32(2).finish();
  return writer
    .uint32((2 << 3) | 5)
    .float(value)
    .uint32(number(20))
    .int32(1)
    .finish();
}

function described({ name, type, dims }: Value): Uint8Array {
  const shape = protobuf.Writer.create();
  for (const size of dims) {
    shape.uint32(tag(1)).fork();
    if (typeof size === "number") shape.uint32(number(1)).int64(size);
    else shape.uint32(tag(2)).string(size);
    shape.ldelim();
  }
  const tensor = protobuf.Writer.create().uint32(number(1)).int32(types[type]).uint32(tag(2)).bytes(shape.finish());
  const whole = protobuf.Writer.create().uint32(tag(1)).bytes(tensor.finish());
  return protobuf.Writer.create().uint32(tag(1)).string(name).uint32(tag(2)).bytes(whole.finish()).finish();
}

/** Tags of a length-delimited field, and of a number. */
const tag = (field: number): number => (field << 3) | 2;
const number = (field: number): number => field << 3;

/** Splits groups into ONNX's format: one scale each, and of two neighbouring values the first in the low bits. */
function parted(bytes: Buffer): { scales: Float32Array; values: Uint8Array } {
  const groups = bytes.length / groupBytes;
  const scales = new Float32Array(groups);
  const values = new Uint8Array((groups * group) / 2);
  for (let index = 0; index < groups; index++) {
    const from = index * groupBytes;
    scales[index] = new DataView(bytes.buffer, bytes.byteOffset + from).getFloat16(0, true);
    for (let at = 0; at < group; at++) {
      // In the source the first half of a group is in the low bits.
      const byte = bytes[from + 2 + (at % (group / 2))]!;
      const value = at < group / 2 ? byte & 15 : byte >> 4;
      values[(index * group + at) >> 1]! |= at % 2 === 0 ? value : value << 4;
    }
  }
  return { scales, values };
}

/** Converts rows of groups to eight bits, each with one scale; transposed, because ONNX multiplies by columns. */
function asInt8(bytes: Buffer, [rows, columns]: [number, number]): { values: Uint8Array; scales: Uint8Array } {
  const four = parted(bytes);
  const valueAt = (index: number) =>
    (((four.values[index >> 1]! >> ((index & 1) * 4)) & 15) - 8) * four.scales[Math.floor(index / group)]!;
  const values = new Int8Array(rows * columns);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const line = Float32Array.from({ length: columns }, (_, column) => valueAt(row * columns + column));
    const scale = line.reduce((most, value) => Math.max(most, Math.abs(value)), 0) / 127 || 1;
    scales[row] = scale;
    line.forEach((value, column) => {
      values[column * rows + row] = Math.round(value / scale);
    });
  }
  return { values: bytesOf(values), scales: bytesOf(scales) };
}

const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(Uint8Array.from(bytes).buffer);
const bytesOf = ({ buffer }: ArrayBufferView): Uint8Array => new Uint8Array(buffer);
