import { describe, expect, test } from "bun:test";
import { createLog, type LogFormat } from "./log.ts";

function lines(format: LogFormat, secrets: string[] = []) {
  const written: string[] = [];
  return { written, log: createLog({ format, secrets, write: (line) => written.push(line), now: () => 0 }) };
}

const canaries = [
  "sk_live_0123456789abcdefghijABCDEFGHIJ0123456789abc",
  "sk_test_0123456789abcdefghijABCDEFGHIJ0123456789abc",
  "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  "sk-proj-abcdefghijklmnopqrstuvwxyz",
  "AKIAIOSFODNN7EXAMPLE",
  "AIzaSyA1234567890abcdefghijklmnopqrstuvw",
  "a-key-without-any-form",
];

describe.each(["json", "pretty"] as const)("a %s line", (format) => {
  test.each(canaries)("never contains the secret %s, wherever it occurs", (secret) => {
    const { log, written } = lines(format, ["a-key-without-any-form"]);
    log.info(`said ${secret}`, { deep: { text: [secret] } });
    log.error("failed", { error: new Error(secret, { cause: new Error(secret) }) });
    log.warn("headers", { headers: { authorization: `Bearer ${secret}`, cookie: `__Host-runnel=${secret}` } });
    expect(written).toHaveLength(3);
    expect(written.join("\n")).not.toContain(secret);
  });

  test("contains no header, password or cookie by its name", () => {
    const { log, written } = lines(format);
    log.info("request", { headers: { Authorization: "opensesame", Cookie: "a=opensesame" }, password: "opensesame" });
    expect(written.join()).not.toContain("opensesame");
  });

  test("contains an error's message, its cause and its location", () => {
    const { log, written } = lines(format);
    log.error("broken", { error: new Error("outer", { cause: new Error("inner") }), big: 1n });
    expect(written[0]).toContain("outer");
    expect(written[0]).toContain("inner");
    expect(written[0]).toContain("log.test.ts");
  });

  test("is one line, whatever a client sent", () => {
    const { log, written } = lines(format);
    log.info("request", { path: "/a\nlevel=error forged" });
    expect(written[0]).not.toContain("\n");
  });
});

test("a JSON line has its time, level and message", () => {
  const { log, written } = lines("json");
  log.warn("disk is nearly full", { free_bytes: 5 });
  expect(JSON.parse(written[0]!)).toEqual({
    time: "1970-01-01T00:00:00.000Z",
    level: "warn",
    message: "disk is nearly full",
    free_bytes: 5,
  });
});
