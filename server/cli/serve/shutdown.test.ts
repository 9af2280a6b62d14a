import { expect, test } from "bun:test";
import { createLog } from "../../lib/log.ts";
import { shutdown } from "./shutdown.ts";

const never = () => new Promise<never>(() => {});
const patience = { ending_ms: 5, draining_ms: 5, cutting_ms: 5, leaving_ms: 5 };

async function stopped(step: () => Promise<void>): Promise<{ closed: boolean; messages: string[] }> {
  const lines: string[] = [];
  let closed = false;
  await shutdown({
    entrance: { stop: step, cut: step },
    endWork: step,
    leave: step,
    patience,
    close: () => {
      closed = true;
    },
    log: createLog({ format: "json", write: (line) => void lines.push(line) }),
  });
  return { closed, messages: lines.map((line) => JSON.parse(line).level) };
}

test("a server stops even if its work, its clients and its cluster never end", async () => {
  expect(await stopped(never)).toEqual({ closed: true, messages: Array(4).fill("warn") });
});

test("a server stops even if every step fails", async () => {
  expect(await stopped(() => Promise.reject(new Error("No.")))).toEqual({
    closed: true,
    messages: Array(4).fill("error"),
  });
});

test("a server that stops cleanly logs nothing about it", async () => {
  expect(await stopped(async () => {})).toEqual({ closed: true, messages: [] });
});
