import { fieldsOf } from "../../lib/json.ts";

/** A tool call whose pieces are arriving. */
interface Call {
  id: string;
  name: string;
  arguments: string;
  extra_content: unknown;
  braces: Braces;
  /** True if it may only repeat the name of the call before it. */
  isEcho: boolean;
}

/** Position in a JSON text: its arguments are whole when the first brace is closed. */
interface Braces {
  depth: number;
  isText: boolean;
  isEscaped: boolean;
  isClosed: boolean;
}

interface Piece {
  id: string;
  name: string;
  arguments: string;
}

/** Index of a call in the older field `function_call`. */
export const onlyCall = -1;

/**
 * Assembles tool calls from their pieces. Servers differ: the index may be missing, a text, or 0 for each call; the id
 * may be missing, new on each piece, or the same for two calls. `tools` are the known names.
 */
export function callPieces(tools: ReadonlySet<string>) {
  const calls: Call[] = [];
  const byIndex = new Map<number, Call>();
  let renamed: readonly [string, string] | null = null;

  /** Adds a piece, and returns the number of code units that it added. */
  function add({ index, id, function: given, extra_content }: Record<string, unknown>): number {
    const fields = fieldsOf(given);
    const name = textOf(fields.name);
    const args = argumentsOf(fields.arguments);
    // Nearly all pieces have only more arguments.
    const known = name === "" && typeof index === "number" ? byIndex.get(index) : undefined;
    const call = known ?? callOf(indexOf(index), { id: textOf(id), name, arguments: args });
    call.extra_content ??= extra_content;
    if (name !== "" && isSentAgain(call, textOf(id), args)) return 0;
    call.id ||= textOf(id);
    const before = call.name.length;
    call.name ||= name;
    call.arguments += args;
    if (!call.braces.isClosed) follow(call.braces, args);
    return call.name.length - before + args.length;
  }

  function callOf(index: number | null, piece: Piece): Call {
    const known = knownCall(index, piece);
    if (known && continues(known, index, piece)) return known;
    const call: Call = {
      id: piece.id,
      name: "",
      arguments: "",
      extra_content: undefined,
      braces: { depth: 0, isText: false, isEscaped: false, isClosed: false },
      isEcho: false,
    };
    call.isEcho = known?.name === piece.name && piece.arguments === "" && !isOther(known, piece);
    calls.push(call);
    if (index !== null) byIndex.set(index, call);
    return call;
  }

  /** Returns the call that a piece may continue: at its index, with its id, or the last one. */
  function knownCall(index: number | null, { id, name }: Piece): Call | undefined {
    if (index !== null) return byIndex.get(index);
    const last = calls.at(-1);
    if (id === "" || last?.id === id) return last;
    return calls.findLast((call) => call.id === id) ?? (name === "" ? last : undefined);
  }

  /** False if the piece begins a new call. */
  function continues(call: Call, index: number | null, piece: Piece): boolean {
    if (piece.name === "" || call.name === "") return true;
    if (call.braces.isClosed) return isRepetition(call, piece);
    if (piece.name !== call.name) return isRename(call, index, piece);
    if (call.arguments !== "" || piece.arguments !== "") return true;
    return index !== null && !isOther(call, piece);
  }

  /** True if a piece with another name belongs to the call: it has the rest of the name, or changes it. */
  function isRename(call: Call, index: number | null, piece: Piece): boolean {
    if (isOther(call, piece) || (index === null && piece.id === "")) return false;
    const isEmpty = call.arguments === "";
    const joined = call.name + piece.name;
    if (isEmpty && beginsName(joined)) call.name = joined;
    else if (isEmpty && !tools.has(call.name) && piece.name.startsWith(call.name)) call.name = piece.name;
    else if (isEmpty && piece.id === "" && tools.has(call.name) && tools.has(piece.name)) return false;
    else renamed ??= [call.name, piece.name];
    return true;
  }

  function beginsName(start: string): boolean {
    for (const name of tools) if (name.startsWith(start)) return true;
    return false;
  }

  return {
    add,
    count: () => calls.length,
    /** Names of a call that changed its name in mid-stream, or null. */
    renamed: () => renamed,
    /** Returns the calls, without those that have neither name nor arguments. */
    all: () =>
      calls.filter(({ name, arguments: args, isEcho }) => (name !== "" || args !== "") && !(isEcho && args === "")),
  };
}

/** True if both have an id, and the ids differ. */
const isOther = (call: Pick<Call, "id">, { id }: Piece): boolean => id !== "" && call.id !== "" && id !== call.id;

/** True if a piece with a name repeats a whole call, or replaces its empty arguments. */
function isRepetition(call: Call, { id, name, arguments: args }: Piece): boolean {
  if (id === "" || id !== call.id || name !== call.name) return false;
  return args === "" || args === call.arguments || call.arguments === "{}";
}

/** True for a last piece that has the whole call once more. */
const isSentAgain = (call: Call, id: string, args: string): boolean =>
  call.braces.isClosed && id === call.id && args === call.arguments;

/** Follows the braces of a JSON text through its next piece. */
function follow(braces: Braces, piece: string): void {
  // Most pieces are words of a text.
  if (braces.isText && !braces.isEscaped && !piece.includes('"') && !piece.includes("\\")) return;
  for (let at = 0; at < piece.length && !braces.isClosed; at++) {
    const code = piece.charCodeAt(at);
    if (braces.isEscaped) braces.isEscaped = false;
    else if (code === backslash) braces.isEscaped = braces.isText;
    else if (code === quote) braces.isText = !braces.isText;
    else if (!braces.isText && code === opening) braces.depth++;
    else if (!braces.isText && code === closing) braces.isClosed = --braces.depth <= 0;
  }
}

const [quote, backslash, opening, closing] = [34, 92, 123, 125];

/** Returns a number, also if it is written as a text. */
function indexOf(index: unknown): number | null {
  if (typeof index === "number") return index;
  return typeof index === "string" && /^\d{1,6}$/.test(index) ? Number(index) : null;
}

const argumentsOf = (args: unknown): string =>
  typeof args === "object" && args !== null ? JSON.stringify(args) : textOf(args);

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
