import { expect, test } from "bun:test";
import { pickPort } from "./pick-port.ts";

test("the usual port is taken if it is free", () => {
  expect(pickPort(() => true)).toBe(8440);
});

test("the next free one follows ports of other programs", () => {
  expect(pickPort((port) => port > 8441)).toBe(8442);
});

test("if all are taken, the start fails at the usual one", () => {
  expect(pickPort(() => false)).toBe(8440);
});

test("a port on which a program listens is not free", () => {
  const picked = pickPort();
  using other = Bun.listen({ hostname: "127.0.0.1", port: picked, socket: { data() {} } });
  expect(pickPort()).not.toBe(other.port);
});
