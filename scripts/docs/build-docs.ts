import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { testApp } from "../../server/testing/test-app.ts";
import { buildClients } from "../clients/build-clients.ts";
import type { OpenApi } from "../clients/openapi.ts";
import { inProject } from "../root.ts";
import { htmlOf, lostPage } from "./html.ts";
import { licensePages, licensesText, readNotices } from "./licenses.ts";
import { navOf, type Page, plain, writtenPages } from "./pages.ts";
import { referencePages } from "./reference.ts";
import { type Searched, searchIndexOf } from "./search-index.ts";

/**
 * Builds the documentation into `docs` of a folder: pages as HTML and Markdown, what searches read, and what language
 * models read. The clients, which the pages offer, are in `clients` beside it, too.
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
  await write("404.html", htmlOf(lostPage, nav));
  const inOrder = nav.flatMap(({ links }) => links.map(({ path }) => pages.find((page) => page.path === path)!));
  const lines = inOrder.map(({ path, title, summary }) => `- [${title}](/docs/${path}.md): ${summary}`);
  await write("llms.txt", `# runnel\n\n> ${index.summary}\n\n## Docs\n\n${lines.join("\n")}\n`);
  const ordered = [...inOrder, ...pages.filter((page) => !inOrder.includes(page))];
  await write("llms-full.txt", ordered.map(({ markdown }) => markdown.trim()).join("\n\n---\n\n"));
  await write("licenses.txt", licensesText(notices));
  const searched = searchedIn(ordered);
  await write("search.json", searchIndexOf(searched));
  for (const { path, text } of searched) await write(`search/${path || "index"}.txt`, text);
  await write(
    "site.css",
    readFileSync(inProject("dashboard/src/tokens.css"), "utf8") + readFileSync(beside("site.css"), "utf8"),
  );
  await write("site.js", readFileSync(beside("search.js"), "utf8") + readFileSync(beside("site.js"), "utf8"));
  await write("embed.js", await scriptOf("main.ts"));
  await write("chat.js", await scriptOf("page.ts"));
  await write("chat.css", readFileSync(inProject("dashboard/embed/page.css"), "utf8"));
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

/** The chat that other sites embed, or its own page, as one classic script. */
async function scriptOf(name: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [inProject("dashboard/embed", name)],
    target: "browser",
    format: "iife",
    minify: true,
  });
  return await outputs[0]!.text();
}

/** The API's document, as a server returns it. */
async function openApi(): Promise<OpenApi> {
  await using server = testApp();
  return (await server.send("GET", "/docs/openapi.json")).body;
}

const beside = (name: string): string => join(import.meta.dir, name);

/** What of these pages a search looks through. */
export const searchedIn = (pages: readonly Page[]): Searched[] => pages.filter(({ isPart }) => !isPart).map(searchedOf);

const searchedOf = ({ path, title, markdown }: Page): Searched => ({
  path: path.replace(/(^|\/)index$/, ""),
  title,
  headings: [...markdown.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => plain(heading)),
  text: plain(markdown.replace(/^```[^\n]*$/gm, "").replace(/^#.*$/gm, "")).replace(/[\s|]+/g, " "),
});

if (import.meta.main) await buildDocs();
