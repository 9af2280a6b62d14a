import { expect, test } from "bun:test";
import { limitWasmMemory } from "./limit-wasm-memory.ts";

/** A module with one exported memory of a page, and a custom section before and after. */
const module = Uint8Array.fromHex(
  ["0061736d01000000", "0003016107", "0503010001", "070501016d0200", "0003016207"].join(""),
);
const megabyte = 2 ** 20;

test("a module's memory cannot grow beyond the limit", async () => {
  const { instance } = (await WebAssembly.instantiate(limitWasmMemory(module, 64 * megabyte))) as never as {
    instance: { exports: { m: WebAssembly.Memory } };
  };
  expect(instance.exports.m.grow(1023)).toBe(1);
  expect(() => instance.exports.m.grow(1)).toThrow(RangeError);
});

test("a module that begins larger, or has no memory of its own, is refused", () => {
  expect(() => limitWasmMemory(module, 1000)).toThrow("another kind");
  expect(() => limitWasmMemory(module.subarray(0, 8), megabyte)).toThrow("no memory");
});
