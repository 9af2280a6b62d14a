import { beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, statSync } from "node:fs";
import { languages, programOf } from "../../e2e/doc-examples.ts";
import { testApp } from "../../server/testing/test-app.ts";
import { inProject, root } from "../root.ts";
import { referencePages } from "./build-docs.ts";
import { htmlOf, rendered } from "./html.ts";
import { licensePages, readNotices } from "./licenses.ts";
import { wrongIds } from "./named-ids.ts";
import { linksOf, navOf, type Page, pageBytes, resolveLink, writtenPages } from "./pages.ts";
import { sentencesIn, stripCode } from "./prose.ts";

const written = writtenPages();
const groups = navOf(written.find(({ path }) => path === "index")!);
/** Files with ids of OpenAI. */
const ofOthers = ["e2e/import-openai-assistants.e2e.ts"];
let all: Page[] = [];
beforeAll(async () => {
  await using server = testApp();
  all = [
    ...written,
    ...referencePages((await server.send("GET", "/docs/openapi.json")).body),
    ...licensePages(await readNotices()),
  ];
});

/** Returns the faults of all pages with their paths. */
const faults = (pages: readonly Page[], of: (page: Page) => string[]): string[] =>
  pages.flatMap((page) => of(page).map((fault) => `${page.path}: ${fault}`));

test("README.md has at most 10 kB", () => {
  expect(statSync(inProject("README.md")).size).toBeLessThanOrEqual(10_000);
});

test("the clients named in install commands have the package's version", () => {
  const { version } = JSON.parse(readFileSync(inProject("package.json"), "utf8"));
  const texts = ["README.md", ...new Bun.Glob("server/{docs,clients}/**/*.md").scanSync({ cwd: root })];
  const named = texts.flatMap((path) =>
    [...readFileSync(inProject(path), "utf8").matchAll(/\brunnel[-_]sdk-(\d[\w.]*?)(?:\.tgz|-py3)/g)].map(
      ([, one]) => ({
        path,
        version: one,
      }),
    ),
  );
  expect(named.length).toBeGreaterThanOrEqual(4);
  expect(named.filter((one) => one.version !== version)).toEqual([]);
});

test("every written id begins with the prefix of its kind", () => {
  const texts = [
    "README.md",
    ...new Bun.Glob("{server,dashboard,e2e,scripts}/**/*.{ts,tsx,mjs,md,py,sh,html,json}").scanSync({ cwd: root }),
  ].filter((path) => !/node_modules|\/(?:dist|__fixtures__)\//.test(path) && !ofOthers.includes(path));
  expect(texts.length).toBeGreaterThan(1000);
  const found = texts.flatMap((path) => wrongIds(readFileSync(inProject(path), "utf8")).map((id) => `${path}: ${id}`));
  expect(found).toEqual([]);
  // An agent's id does not begin with that word; shortened ids are checked too.
  const [word, digits] = ["agent", "0".repeat(26)];
  const wrong = [`${word}_…`, `${word}_none`, `${word}_1`, `${word}_${digits}`, `wh${"_…"}`];
  expect(wrongIds(wrong.join(" "))).toEqual(wrong);
  expect(wrongIds(`agt_… agt_none agt_${digits} sk_test_… agent_id tool_1 run_${digits} agent_ids_1`)).toEqual([]);
});

test("the site's style uses only existing tokens", () => {
  const style = readFileSync(inProject("scripts/docs/site.css"), "utf8");
  const known = readFileSync(inProject("dashboard/src/tokens.css"), "utf8") + style;
  const used = new Set([...style.matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name!));
  expect(used.size).toBeGreaterThan(20);
  expect([...used].filter((name) => !known.includes(`${name}:`))).toEqual([]);
});

describe("the side bar", () => {
  test("has six groups, and each says in one sentence what it is about", () => {
    expect(groups.length).toBe(6);
    expect(groups.filter(({ summary }) => !/^[A-Z][^.!?]{20,120}\.$/.test(summary))).toEqual([]);
  });

  test("has no section without a link", () => {
    const empty = groups.flatMap(({ title, sections }) =>
      sections.filter(({ title, links }) => title !== "" && links.length === 0).map((one) => `${title}: ${one.title}`),
    );
    expect(empty).toEqual([]);
  });

  test("opens the group of the page, and folds the others", () => {
    const openIn = (path: string) =>
      [...htmlOf(all.find((page) => page.path === path)!, groups).matchAll(/<details open><summary>([^<]*)</g)].map(
        ([, title]) => title,
      );
    expect(groups.flatMap(linksOf).filter(({ path }) => openIn(path).length !== 1)).toEqual([]);
    expect(openIn("guides/slack")).toEqual(["Connect clients and channels"]);
    expect(openIn("start/clients")).toEqual(["Build agents"]);
    expect(openIn("reference/errors/rate_limit_error")).toEqual(["Reference and background"]);
    expect(openIn("reference/objects/Run")).toEqual(["Reference and background"]);
    expect(openIn("index")).toEqual([]);
  });
});

describe("a page of the documentation", () => {
  test("has at most 8,192 bytes; the changelog grows with each version, the list of pages with each page", () => {
    const bounded = all.filter(({ path }) => path !== "changelog" && path !== "index");
    expect(
      faults(bounded, ({ markdown }) =>
        Buffer.byteLength(markdown) > pageBytes ? [`${Buffer.byteLength(markdown)}`] : [],
      ),
    ).toEqual([]);
  });

  test("written by hand is in the side bar, once", () => {
    const listed = groups.flatMap((group) => linksOf(group).map(({ path }) => path));
    expect(listed.filter((path, at) => listed.indexOf(path) !== at)).toEqual([]);
    expect(written.map(({ path }) => path).filter((path) => path !== "index" && !listed.includes(path))).toEqual([]);
  });

  test("has no dead links", () => {
    const anchors = new Map(all.map(({ path, markdown }) => [path, idsOf(markdown)]));
    const broken = faults(all, ({ path, markdown }) =>
      linksIn(markdown).filter((href) => {
        const [target = "", anchor] = resolveLink(path, href).split("#");
        if (target.startsWith("files/")) return !existsSync(inProject("server/docs", target));
        const ids = anchors.get(target.replace(/\.md$/, ""));
        return ids === undefined || (anchor !== undefined && !ids.has(anchor));
      }),
    );
    expect(broken).toEqual([]);
  });

  test("has no sentence of more than 30 words", () => {
    expect(
      faults(written, ({ markdown }) => sentencesIn(markdown).filter((one) => one.split(/\s+/).length > 30)),
    ).toEqual([]);
  });

  test("that is a guide says where its variables and its client come from, before its first example", () => {
    const told = "You need a running server, its variables and a client: [Quickstart](../start/quickstart.md).\n";
    const guides = written.filter(({ path }) => path.startsWith("guides/"));
    expect(guides.filter(({ markdown }) => !markdown.split("```")[0]!.includes(told))).toEqual([]);
  });

  test("that is a guide has its examples in every language", () => {
    const guides = written.filter(({ path }) => path.startsWith("guides/"));
    expect(guides.length).toBeGreaterThan(0);
    expect(faults(guides, ({ markdown }) => languages.filter((one) => programOf(markdown, one) === null))).toEqual([]);
  });
});

const linksIn = (markdown: string): string[] =>
  [...stripCode(markdown).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, href]) =>
    /^(https?:|mailto:|\/)/.test(href!) ? [] : [href!],
  );

const idsOf = (markdown: string): Set<string> =>
  new Set([...rendered(markdown).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!));
