/**
 * Library of a JavaScript program, as source for its interpreter. Texts are passed as JSON, because the interpreter's
 * own strings end at the first NUL. Code of the program (getters, `toJSON`) runs inside, within its time and memory.
 */
export const guestLibrary = String.raw`(host, limits) => {
  "use strict";
  // A program may delete or replace what is global: the library has its own.
  const { ArrayBuffer, BigInt, Error, InternalError, Number, Object, String, TypeError, Uint8Array } = globalThis;
  const { stringify, parse } = JSON;
  const hasIn = Function.prototype.call.bind(String.prototype.includes);
  const isMemory = (thrown) => thrown instanceof InternalError && thrown.message === "out of memory";
  const describe = (thrown) => {
    if (!(thrown instanceof Error)) return "Uncaught " + show(thrown);
    const line = /program\.js:(\d+)/.exec(thrown.stack);
    return thrown.name + ": " + thrown.message + (line ? " (line " + line[1] + ")" : "");
  };
  // Big integers cross as texts with a mark, in which JSON keeps their digits.
  const withDigits = new RegExp('"' + limits.mark + '(-?\\d+)"', "g");
  const toJSON = { value() { return limits.mark + this; }, configurable: true };
  const written = (value) => {
    const isOurs = BigInt.prototype.toJSON === undefined;
    if (isOurs) Object.defineProperty(BigInt.prototype, "toJSON", toJSON);
    try {
      const json = stringify(value);
      return json !== undefined && hasIn(json, limits.mark) ? json.replace(withDigits, "$1") : json;
    } finally {
      if (isOurs) delete BigInt.prototype.toJSON;
    }
  };
  const numberIn = (text) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));
  const revive = (_, value) =>
    typeof value === "string" && value.startsWith(limits.mark) ? numberIn(value.slice(limits.mark.length)) : value;
  const read = (json) => (hasIn(json, limits.mark) ? parse(json, revive) : parse(json));
  const show = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error) return describe(value);
    try {
      return written(value) ?? String(value);
    } catch (thrown) {
      if (isMemory(thrown)) throw thrown;
      return Object.prototype.toString.call(value);
    }
  };
  const printTo = (name) => (...values) =>
    host.print(name, stringify(values.map(show).join(" ").slice(0, limits.printed) + "\n"));
  const [out, err] = [printTo("stdout"), printTo("stderr")];
  const bytesOf = (data) => {
    if (data instanceof ArrayBuffer) return data;
    if (ArrayBuffer.isView(data)) return data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
    throw new TypeError("output.write takes a text or bytes.");
  };
  const write = (name, data) => {
    const file = stringify(String(name));
    if (typeof data !== "string") {
      const bytes = bytesOf(data);
      return bytes.byteLength > limits.output ? host.drop() : host.writeBytes(file, bytes);
    }
    return data.length > limits.output ? host.drop() : host.writeText(file, stringify(data));
  };
  const offer = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  offer("print", out);
  offer("console", Object.freeze({ log: out, info: out, debug: out, warn: err, error: err }));
  offer("output", Object.freeze({ write }));
  offer("input", Object.freeze({
    names: () => parse(host.names()),
    text: (name) => parse(host.text(stringify(String(name)))),
    bytes: (name) => new Uint8Array(host.bytes(stringify(String(name)))),
  }));
  if (limits.isShared)
    offer("workspace", Object.freeze({
      names: () => parse(host.sharedNames()),
      text: (path) => parse(host.sharedText(stringify(String(path)))),
      bytes: (path) => new Uint8Array(host.sharedBytes(stringify(String(path)))),
      write,
      remove: (path) => parse(host.sharedRemove(stringify(String(path)))),
    }));
  const fail = (thrown) => {
    if (isMemory(thrown)) return host.end("memory", '""');
    let message;
    try {
      message = describe(thrown);
    } catch {
      message = "The program threw a value that cannot be shown.";
    }
    host.end("error", stringify(String(message).slice(0, limits.message)));
  };
  const finish = async (value) => {
    try {
      const result = written(await value()) ?? "null";
      if (result.length > limits.result) host.end("large", '""');
      else host.end("result", result);
    } catch (thrown) {
      fail(thrown);
    }
  };
  return {
    fail,
    awaitValue: (program) => void finish(async () => (await program).value),
    call: (callee, given) =>
      void finish(async () => {
        if (typeof callee !== "function") throw new TypeError("The source is not a function of the arguments.");
        return callee(read(given));
      }),
  };
}`;
