import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { testApp } from "../../server/testing/test-app.ts";
import { inProject } from "../root.ts";
import { buildClients } from "../sdk-codegen/build-clients.ts";
import type { OpenApi } from "../sdk-codegen/openapi.ts";
import { htmlOf, notFoundPage } from "./html.ts";
import { licensePages, licensesText, readNotices } from "./licenses.ts";
import { navOf, type Page, plain, writtenPages } from "./pages.ts";
import { referencePages } from "./reference.ts";
import { type SearchablePage, searchIndexOf } from "./search-index.ts";

/**
 * Builds the documentation into `docs` of a folder: pages as HTML and Markdown, the search index, and the text for
 * language models. The clients, which the pages offer, are built into `clients` beside it.
 */
export async function buildDocs(dist = inProject("dist")): Promise<void> {
  const folder = join(dist, "docs");
  rmSync(folder, { recursive: true, force: true });
  const document = await openApi();
  const notices = await readNotices();
  const pages = [...writtenPages(), ...referencePages(document), ...licensePages(notices)];
  const index = pages.find(({ path }) => path === "index")!;
  const nav = navOf(index);
  for (const page of pages) {
    await write(`${page.path}.html`, htmlOf(page, nav));
    await write(`${page.path}.md`, page.markdown);
  }
  await write("404.html", htmlOf(notFoundPage, nav));
  const inOrder = nav.flatMap(({ links }) => links.map(({ path }) => pages.find((page) => page.path === path)!));
  const lines = inOrder.map(({ path, title, summary }) => `- [${title}](/docs/${path}.md): ${summary}`);
  await write("llms.txt", `# runnel\n\n> ${index.summary}\n\n## Docs\n\n${lines.join("\n")}\n`);
  const ordered = [...inOrder, ...pages.filter((page) => !inOrder.includes(page))];
  await write("llms-full.txt", ordered.map(({ markdown }) => markdown.trim()).join("\n\n---\n\n"));
  await write("licenses.txt", licensesText(notices));
  const searched = searchableContentOf(ordered);
  await write("search.json", searchIndexOf(searched));
  for (const { path, text } of searched) await write(`search/${path || "index"}.txt`, text);
  await write(
    "site.css",
    readFileSync(inProject("dashboard/src/tokens.css"), "utf8") + readFileSync(beside("site.css"), "utf8"),
  );
  await write("site.js", readFileSync(beside("search.js"), "utf8") + readFileSync(beside("site.js"), "utf8"));
  await write("embed.js", await scriptOf("main.ts"));
  await write("chat.js", await scriptOf("page.ts"));
  await write("chat.css", readFileSync(inProject("dashboard/chat-widget/page.css"), "utf8"));
  cpSync(inProject("server/docs/files"), join(folder, "files"), { recursive: true });
  await buildClients(document, join(dist, "clients"));
  cpSync(join(dist, "clients"), join(folder, "clients"), { recursive: true });

  async function write(name: string, text: string): Promise<void> {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    await Bun.write(path, text);
    await Bun.write(`${path}.br`, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

/** Bundles the embedded chat, or its own page, into one classic script. */
async function scriptOf(name: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [inProject("dashboard/chat-widget", name)],
    target: "browser",
    format: "iife",
    minify: true,
  });
  return await outputs[0]!.text();
}

/** Returns the API's document, as a server returns it. */
async function openApi(): Promise<OpenApi> {
  await using server = testApp();
  return (await server.send("GET", "/docs/openapi.json")).body;
}

const beside = (name: string): string => join(import.meta.dir, name);

/** Returns the searchable content of these pages. */
export const searchableContentOf = (pages: readonly Page[]): SearchablePage[] =>
  pages.filter(({ isPart }) => !isPart).map(searchedOf);

const searchedOf = ({ path, title, markdown }: Page): SearchablePage => ({
  path: path.replace(/(^|\/)index$/, ""),
  title,
  headings: [...markdown.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => plain(heading)),
  text: plain(markdown.replace(/^```[^\n]*$/gm, "").replace(/^#.*$/gm, "")).replace(/[\s|]+/g, " "),
});

if (import.meta.main) await buildDocs();
