import { expect, test } from "bun:test";
import { startRunnel } from "./harness.ts";

// What a browser loads before it can show the first page, as the executable sends it.

const budget_bytes = 150_000;

test("the dashboard begins with at most 150 kB of JavaScript, compressed", async () => {
  await using server = await startRunnel();
  const sent = async (path: string, encoding: string): Promise<ArrayBuffer> => {
    const headers = { "accept-encoding": encoding };
    // Bun's own option: what was sent is to be weighed, not what becomes of it.
    const response = await server.fetch(path, { key: null, headers, decompress: false } as RequestInit);
    expect(response.status).toBe(200);
    if (encoding === "br") expect(response.headers.get("content-encoding")).toBe("br");
    return await response.arrayBuffer();
  };
  const textOf = async (path: string) => new TextDecoder().decode(await sent(path, "identity"));

  const page = await textOf("/dashboard");
  const waiting = [...page.matchAll(/\/dashboard\/assets\/[\w.-]+\.js/g)].map(([path]) => path);
  expect(waiting.length).toBeGreaterThan(0);
  const weights = new Map<string, number>();
  for (const path of waiting) {
    if (weights.has(path)) continue;
    weights.set(path, (await sent(path, "br")).byteLength);
    const imports = (await textOf(path)).matchAll(/(?:from|import)\s*["']\.\/([\w.-]+\.js)["']/g);
    for (const [, name] of imports) waiting.push(`/dashboard/assets/${name}`);
  }
  const sum = [...weights.values()].reduce((total, each) => total + each, 0);
  expect(sum, [...weights].map(([path, bytes]) => `${bytes} ${path}`).join("\n")).toBeLessThanOrEqual(budget_bytes);
  console.info(`The dashboard begins with ${sum} bytes in ${weights.size} files.`);
});
