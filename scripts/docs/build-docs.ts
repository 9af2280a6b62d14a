import { cpSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, constants } from "node:zlib";
import { createProgram } from "../../server/cli/program.ts";
import { testEvent, webhookTopics } from "../../server/domain/api-types/enums.ts";
import { docsIndexOf, type SearchablePage } from "../../server/lib/docs-search.ts";
import { alertRules } from "../../server/services/alerts/rules.ts";
import { createInstruments } from "../../server/services/metrics/instruments.ts";
import { testApp } from "../../server/testing/test-app.ts";
import { inProject } from "../root.ts";
import { buildClients } from "../sdk-codegen/build-clients.ts";
import type { OpenApi } from "../sdk-codegen/openapi.ts";
import { addressesPage } from "./addresses.ts";
import { commandPages } from "./commands.ts";
import { errorPages } from "./errors.ts";
import { htmlOf, notFoundPage } from "./html.ts";
import { licensePages, licensesText, readNotices } from "./licenses.ts";
import { eventPages, objectPages } from "./objects.ts";
import { operationPages } from "./operations.ts";
import { linksOf, navOf, type Page, pageOf, plain, writtenPages } from "./pages.ts";
import { searchWords } from "./search-words.ts";
import { configurationPages, limitsPage } from "./settings.ts";

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
  const pageAt = new Map(pages.map((page) => [page.path, page]));
  const inOrder = nav.flatMap((group) => linksOf(group).map(({ path }) => pageAt.get(path)!));
  const listed = nav.map((group) => {
    const lines = linksOf(group)
      .map(({ path }) => pageAt.get(path)!)
      .map(({ path, title, summary }) => `- [${title}](/docs/${path}.md): ${summary}`);
    return `## ${group.title}\n\n${group.summary}\n\n${lines.join("\n")}\n`;
  });
  await write("llms.txt", `# runnel\n\n> ${index.summary}\n\n${listed.join("\n")}`);
  const ordered = [...inOrder, ...pages.filter((page) => !inOrder.includes(page))];
  await write("llms-full.txt", ordered.map(({ markdown }) => markdown.trim()).join("\n\n---\n\n"));
  await write("licenses.txt", licensesText(notices));
  const searched = searchableContentOf(ordered);
  await write("search.json", docsIndexOf(searched));
  for (const { path, text } of searched) await write(`search/${path || "index"}.txt`, text);
  await write(
    "site.css",
    readFileSync(inProject("dashboard/src/tokens.css"), "utf8") + readFileSync(beside("site.css"), "utf8"),
  );
  await write("site.js", readFileSync(beside("site.js"), "utf8"));
  await write("search.js", await scriptOf(beside("search.ts")));
  await write("embed.js", await scriptOf(inProject("dashboard/chat-widget/main.ts")));
  await write("chat.js", await scriptOf(inProject("dashboard/chat-widget/page.ts")));
  await write("chat.css", readFileSync(inProject("dashboard/chat-widget/page.css"), "utf8"));
  cpSync(inProject("server/docs/files"), join(folder, "files"), { recursive: true });
  await buildClients(document, join(dist, "clients"));
  cpSync(join(dist, "clients"), join(folder, "clients"), { recursive: true });

  /** Writes a text compressed only, because the executable contains all of them: see `server/lib/built-files.ts`. */
  async function write(name: string, text: string): Promise<void> {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    await Bun.write(`${path}.br`, brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  }
}

/** Bundles a module into one classic script for browsers. */
async function scriptOf(path: string): Promise<string> {
  const { outputs } = await Bun.build({
    entrypoints: [path],
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
  keywords: searchWords[path.replace(/\/index$/, "")] ?? "",
  headings: [...markdown.matchAll(/^##+ (.+)$/gm)].map(([, heading = ""]) => plain(heading)),
  text: plain(markdown.replace(/^```[^\n]*$/gm, "").replace(/^#.*$/gm, "")).replace(/[\s|]+/g, " "),
});

/** Returns the pages of the reference, generated from the server's own definitions, so that they cannot deviate. */
export function referencePages(document: OpenApi): Page[] {
  const program = createProgram();
  const webhooks = { ...webhookTopics, [testEvent]: "A test of the webhook was requested." };
  const pages = [...operationPages(document), ...eventPages(document, webhooks)];
  return [
    ...pages,
    ...objectPages(pages, document),
    ...errorPages(),
    ...commandPages(program),
    ...configurationPages(program),
    addressesPage(),
    metricsPage(),
    alertsPage(),
    limitsPage(countsOf(document)),
  ];
}

/** Returns the limit of each operation, from its description. */
const countsOf = ({ paths }: OpenApi) =>
  Object.values(paths).flatMap((methods) =>
    Object.entries(methods).map(([method, { operationId, description }]) => ({
      id: operationId,
      method: method.toUpperCase(),
      bucket: /counts for `(\w+)`/.exec(description)![1]!,
    })),
  );

/** Returns the page of all alerts, from the table that the server checks. */
function alertsPage(): Page {
  const rows = Object.entries(alertRules).map(
    ([name, { of, when, todo }]) =>
      `| \`${name}\` | ${of === "server" ? "the server" : "an environment"} | ${when} | ${todo} |`,
  );
  return pageOf(
    "reference/alerts",
    `# Alerts

What the server looks for once a minute. [Monitoring](../operate/monitoring.md#alerts-without-prometheus) shows where it tells of it.

| Rule | Of | Opens when | Do |
|---|---|---|---|
${rows.join("\n")}

An alert closes when that is no longer so.
`,
  );
}

/** Returns the page of all metrics, from their declarations. */
function metricsPage(): Page {
  const rows = createInstruments().described.map(
    ({ name, type, labels, help }) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(", ")} | ${help} |`,
  );
  return pageOf(
    "reference/metrics",
    `# Metrics

What \`GET /metrics\` returns. [Monitoring](../operate/monitoring.md#metrics) shows how to scrape it.

| Metric | Type | Labels | Meaning |
|---|---|---|---|
${rows.join("\n")}

Counters begin at 0 with the process, as Prometheus expects. [\`GET /v1/usage\`](../operate/usage.md) has what lasts.

No label holds the name of an agent, a tool, a user or a key, so the number of series is bounded. \`provider\` is the part of a
model's name before the first \`/\`; from the 51st on it is \`other\`.
`,
  );
}

if (import.meta.main) await buildDocs();
