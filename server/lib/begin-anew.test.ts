import { expect, test } from "bun:test";
import { serves } from "./begin-anew.ts";

// Whoever is taken for a server and is none begins anew for nothing; whoever is one and is not found has 256 requests.
test.each<[string, boolean]>([
  ["", true],
  ["serve", true],
  ["serve --port 0", true],
  ["--port 0", true],
  ["keys list", false],
  ["version", false],
])("`runnel %s` is a server: %p", (line, served) => {
  expect(serves(line === "" ? [] : line.split(" "))).toBe(served);
});
