import { expect, test } from "bun:test";
import { startsServer } from "./reexec.ts";

// A false positive re-executes for nothing; a false negative leaves a server with 256 requests.
test.each<[string, boolean]>([
  ["", false],
  ["serve", true],
  ["dev --port 0", true],
  ["serve --port 0", true],
  ["--port 0", false],
  ["--help", false],
  ["keys list", false],
  ["version", false],
])("`runnel %s` is a server: %p", (line, served) => {
  expect(startsServer(line === "" ? [] : line.split(" "))).toBe(served);
});
