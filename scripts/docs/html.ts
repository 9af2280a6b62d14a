import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import typescript from "highlight.js/lib/languages/typescript";
import { linksOf, type NavGroup, type Page, pageOf, resolveLink } from "./pages.ts";

hljs.registerLanguage("bash", bash);
hljs.registerLanguage("json", json);
hljs.registerLanguage("python", python);
hljs.registerLanguage("ts", typescript);

/** The 404 page. It has no Markdown beside it. */
export const notFoundPage = pageOf(
  "404",
  "# There is no such page\n\nThe address is wrong, or the page has moved. Search for it above, or choose one at the side.\n\n- [Quickstart](start/quickstart.md)\n- [API](reference/api/index.md)\n- [Errors](reference/errors/index.md)\n",
);

/**
 * Returns one page of the site. It works without scripts; with them it has search, tabs and copy buttons. The group of
 * the page is open in the side bar, and the others are folded.
 */
export function htmlOf(page: Page, nav: readonly NavGroup[]): string {
  const body = bodyOf(page);
  const sections = [...body.matchAll(/<h2 id="([^"]+)"><a[^>]*>(.*?)<\/a><\/h2>/g)];
  const opened = groupWith(page.path, nav);
  const title = page.path === "index" ? "runnel documentation" : `${page.title} · runnel`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(page.summary)}">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
${
  page === notFoundPage
    ? ""
    : `<link rel="alternate" type="text/markdown" href="/docs/${page.path}.md">
`
}<link rel="stylesheet" href="/docs/site.css">
<script src="/docs/site.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<button type="button" id="menu" aria-expanded="false" aria-controls="pages" hidden>Menu</button>
<a class="brand" href="/docs">runnel <span>docs</span></a>
<search hidden><label for="query">Search</label>
<input id="query" type="search" placeholder="Search" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list"><kbd aria-hidden="true">/</kbd>
<div id="found" role="listbox" aria-label="Pages found" hidden></div></search>
<button type="button" id="theme" aria-label="Switch to dark" hidden>${moon}${sun}</button>
<a href="/dashboard">Dashboard</a>
</header>
<div class="columns">
<nav id="pages" aria-label="Pages">
${nav.map((group) => groupOf(group, page.path, group === opened)).join("\n")}
</nav>
<main id="content"${page.path === "index" ? ' class="first"' : ""}>
${body}
${
  page === notFoundPage
    ? ""
    : `<footer><a href="/docs/${page.path}.md">This page as Markdown</a></footer>
`
}</main>
<aside aria-label="On this page">
${sections.length > 1 ? `<p>On this page</p><ul>${sections.map(([, id, text]) => `<li><a href="#${id}">${text}</a></li>`).join("")}</ul>` : ""}
</aside>
</div>
</body>
</html>
`;
}

/** True for the link of a page, and for the link of the index that lists the page. */
const isLinkTo = (path: string, current: string): boolean =>
  path === current || (path.endsWith("/index") && current.startsWith(path.slice(0, -"index".length)));

/**
 * Returns the group of a page: the one that links to it. A page without a link, such as an object of the API, is in the
 * group that has most pages of its folder. Pages outside of all folders have none.
 */
function groupWith(current: string, nav: readonly NavGroup[]): NavGroup | undefined {
  const linked = nav.find((group) => linksOf(group).some(({ path }) => isLinkTo(path, current)));
  if (linked || !current.includes("/")) return linked;
  const folder = current.slice(0, current.indexOf("/") + 1);
  const countIn = (group: NavGroup) => linksOf(group).filter(({ path }) => path.startsWith(folder)).length;
  const [first] = nav.filter((group) => countIn(group) > 0).sort((one, other) => countIn(other) - countIn(one));
  return first;
}

function groupOf({ title, sections }: NavGroup, current: string, isOpen: boolean): string {
  const lists = sections
    .filter(({ links }) => links.length > 0)
    .map(({ title: section, links }) => {
      const items = links.map(
        ({ title, path }) =>
          `<li><a href="${addressOf(path)}"${isLinkTo(path, current) ? ' aria-current="page"' : ""}>${escaped(title)}</a></li>`,
      );
      // A list says to screen readers what it is of; its heading above is for the eyes.
      const heading = section === "" ? "" : `<p aria-hidden="true">${escaped(section)}</p>`;
      return `${heading}<ul aria-label="${escaped(section || title)}">${items.join("")}</ul>`;
    });
  return `<details${isOpen ? " open" : ""}><summary>${escaped(title)}</summary>${lists.join("")}</details>`;
}

/** `guides/x` → `/docs/guides/x`; `reference/api/index` → `/docs/reference/api`. */
const addressOf = (path: string): string => `/docs/${path}`.replace(/\/index$/, "");

/** Returns a Lucide icon of 16 px. */
const iconOf = (name: string, shapes: string): string =>
  `<svg class="${name}" viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`;
const moon = iconOf("moon", '<path d="M12 3a6 6 0 0 0 9 9 9 9 0 1 1-9-9Z"/>');
const sun = iconOf(
  "sun",
  '<circle cx="12" cy="12" r="4"/><path d="M12 2v2m0 16v2M4.9 4.9l1.4 1.4m11.4 11.4 1.4 1.4M2 12h2m16 0h2M4.9 19.1l1.4-1.4M17.7 6.3l1.4-1.4"/>',
);

/**
 * On a narrow page each row is an entry, and each cell names its column. A table of fields or flags has such entries at
 * every width, so that the description has most of it. The roles stay valid in that layout.
 */
function tableOf(table: string): string {
  const columns = [...table.matchAll(/<th[^>]*>(.*?)<\/th>/g)].map(([, name = ""]) => name.replace(/<[^>]+>/g, ""));
  const isOfEntries = columns.length > 2 && /^(Description|Meaning)$/.test(columns.at(-1) ?? "");
  const rows = table
    .replace("<table>", '<table role="table">')
    .replace(/<(thead|tbody)>/g, '<$1 role="rowgroup">')
    .replace(/<th\b/g, '<th role="columnheader"')
    .replace(/<tr>[\s\S]*?<\/tr>/g, (row) => {
      let column = 0;
      return row
        .replace("<tr>", '<tr role="row">')
        .replace(/<td\b/g, () => `<td role="cell" data-column="${escaped(columns[column++] ?? "")}"`);
    })
    // A column of a table becomes as narrow as its text may be broken, so only what is too long for it may.
    .replace(/<code>(.*?)<\/code>/g, (code, text) =>
      isOfEntries || text.length > 36 ? `<code>${withBreaks(text)}</code>` : code,
    );
  return `<div class="wide${isOfEntries ? " entries" : ""}" tabindex="0">${rows}</div>`;
}

/** Lets a name wrap between its parts: `memory.stores[].top_k` before each part, a long part before each word. */
const withBreaks = (name: string): string =>
  name
    .replace(/[./](?=[A-Za-z_{*])/g, "$&<wbr>")
    .split("<wbr>")
    .map((part) => (part.length > 28 ? part.replace(/_(?=\w)/g, "_<wbr>") : part))
    .join("<wbr>");

interface Code {
  language: string;
  text: string;
}

/** Renders the Markdown as HTML: code is highlighted, and adjacent fences in several languages become tabs. */
function bodyOf({ path, markdown }: Page): string {
  const codes: Code[][] = [];
  // Adjacent fences show the same code in several languages.
  const text = markdown.replace(/(?:^```\w*[^\n]*\n[\s\S]*?^```\n\s*)+/gm, (run) => {
    const fences = [...run.matchAll(/^```(\w*)[^\n]*\n([\s\S]*?)^```$/gm)];
    const all = fences.map(([, language = "", text = ""]) => ({ language, text }));
    const differ = new Set(all.map(({ language }) => language)).size === all.length;
    const groups = differ && all.every(({ language }) => language in names) ? [all] : all.map((one) => [one]);
    return groups.map((group) => `<div data-code="${codes.push(group) - 1}"></div>\n\n`).join("");
  });
  return rendered(text)
    .replace(/<div data-code="(\d+)"><\/div>/g, (_, index) => codeOf(codes[Number(index)]!))
    .replace(/<table>[\s\S]*?<\/table>/g, tableOf)
    .replace(/ href="(?!https?:|\/|#|mailto:)([^"]+)"/g, (_, href) => ` href="${linkOf(path, href)}"`);
}

/** Renders Markdown as HTML. A heading that is one name, such as `validation_failed`, has the name as its id. */
export const rendered = (markdown: string): string =>
  Bun.markdown
    .html(markdown, { headings: { ids: true, autolink: true } })
    .replace(
      /(<h\d id=")[^"]+("><a href="#)[^"]+(">(?:<code>)?(\w+)(?:<\/code>)?<\/a>)/g,
      (all, before, between, after, name) => (name.includes("_") ? before + name + between + name + after : all),
    );

const linkOf = (from: string, href: string): string => {
  const [path = "", anchor] = resolveLink(from, href).split("#");
  return addressOf(path.replace(/\.md$/, "")) + (anchor === undefined ? "" : `#${anchor}`);
};

const names: Record<string, string> = { bash: "curl", ts: "TypeScript", python: "Python" };

function codeOf(group: readonly Code[]): string {
  if (group.length === 1) return blockOf(group[0]!);
  return `<div class="tabs">${group.map((code) => `<section data-language="${code.language}"><p class="language">${names[code.language]}</p>${blockOf(code)}</section>`).join("")}</div>`;
}

const blockOf = ({ language, text }: Code): string =>
  `<pre tabindex="0"><code>${hljs.getLanguage(language) ? hljs.highlight(text, { language }).value : escaped(text)}</code></pre>`;

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
