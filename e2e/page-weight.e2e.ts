import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Runnel, startRunnel } from "./harness.ts";

// Bytes that a browser loads before it can show a page, as the executable sends them.

const budget_bytes = 150_000;
const pageBudget_bytes = 130_000;

let server: Runnel;
beforeAll(async () => {
  server = await startRunnel();
});
afterAll(() => server[Symbol.asyncDispose]());

const sent = async (path: string, encoding: string): Promise<ArrayBuffer> => {
  const headers = { "accept-encoding": encoding };
  // Bun's own option: measures the compressed size.
  const response = await server.fetch(path, { key: null, headers, decompress: false } as RequestInit);
  expect(response.status).toBe(200);
  if (encoding === "br") expect(response.headers.get("content-encoding")).toBe("br");
  return await response.arrayBuffer();
};
const texts = new Map<string, Promise<string>>();
const textOf = (path: string): Promise<string> => {
  const text = texts.get(path) ?? sent(path, "identity").then((bytes) => new TextDecoder().decode(bytes));
  texts.set(path, text);
  return text;
};
const assetsIn = (text: string, pattern: RegExp): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => `/dashboard/assets/${name}`)),
];
const pages = /([\w-]+-(?:page|route)-[\w-]+\.js)/g;

/** Returns these files and all their static imports, except the `known` ones, which are loaded already. */
async function withImports(paths: readonly string[], known: readonly string[] = []): Promise<string[]> {
  const found = new Set(paths);
  for (const path of found) {
    const imports = assetsIn(await textOf(path), /(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g);
    for (const each of imports) if (!known.includes(each)) found.add(each);
  }
  return [...found];
}

async function weightOf(paths: readonly string[]): Promise<{ sum: number; told: string }> {
  const each = await Promise.all(paths.map(async (path) => ({ path, bytes: (await sent(path, "br")).byteLength })));
  return {
    sum: each.reduce((total, { bytes }) => total + bytes, 0),
    told: each.map(({ path, bytes }) => `${bytes} ${path}`).join("\n"),
  };
}

const firstFiles = async () => withImports(assetsIn(await textOf("/dashboard"), /\/dashboard\/assets\/([\w.-]+\.js)/g));

test("the dashboard starts with at most 150 kB of JavaScript, compressed", async () => {
  const first = await firstFiles();
  expect(first.length).toBeGreaterThan(0);
  const { sum, told } = await weightOf(first);
  expect(sum, told).toBeLessThanOrEqual(budget_bytes);
  console.info(`The dashboard begins with ${sum} bytes in ${first.length} files.`);
});

test("no page adds more than 130 kB, or loads the code of an editor before showing one", async () => {
  const first = await firstFiles();
  const begun = await Promise.all(first.map(textOf));
  const all = [...new Set(begun.flatMap((text) => assetsIn(text, pages)))];
  expect(all.length).toBeGreaterThan(30);
  for (const page of all) {
    const files = await withImports([page], first);
    const { sum, told } = await weightOf(files);
    expect(sum, `${page}\n${told}`).toBeLessThanOrEqual(pageBudget_bytes);
    const ofEditors = await Promise.all(files.map(async (path) => (await textOf(path)).includes("cm-gutters")));
    expect(files.filter((_, index) => ofEditors[index])).toEqual([]);
  }
});
