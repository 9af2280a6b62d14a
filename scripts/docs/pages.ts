import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";

/** A page of the documentation. */
export interface Page {
  /** Its address under `/docs/`, without an ending: `guides/streaming`. The first page is `index`. */
  path: string;
  /** Its one heading of the first level. */
  title: string;
  /** The first paragraph, as plain text. */
  summary: string;
  markdown: string;
  /** Set on a page that is only linked and not searched for: search excludes it. */
  isPart?: true;
}

/** A group of the side bar that folds: a section of the first page. */
export interface NavGroup {
  title: string;
  /** Subject of its pages, in a sentence. */
  summary: string;
  sections: NavSection[];
}

/** Links below one heading of a group. Those before its first heading have an empty title. */
interface NavSection {
  title: string;
  links: { title: string; path: string }[];
}

/** Returns the pages written by hand, in `server/docs`. */
export function writtenPages(folder = inProject("server/docs")): Page[] {
  const files = [...new Bun.Glob("**/*.md").scanSync({ cwd: folder })].sort();
  return files.map((file) =>
    pageOf(file.replaceAll("\\", "/").replace(/\.md$/, ""), readFileSync(join(folder, file), "utf8")),
  );
}

/** Creates a page. Throws if the Markdown does not begin with a heading and a paragraph. */
export function pageOf(path: string, markdown: string): Page {
  const [, title, summary] = /^# (.+)\n\n([^\n#`|<-][^\n]*(?:\n[^\n]+)*)/.exec(markdown) ?? [];
  if (!title || !summary) throw new Error(`${path}.md must begin with a heading and a paragraph.`);
  return { path, title: plain(title), summary: plain(summary.replaceAll("\n", " ")), markdown };
}

/** Maximum length of a page, in bytes of Markdown. */
export const pageBytes = 8192;

/** Returns the page in the first of these sizes that is short enough, otherwise in the last one. */
export function pageThatFits<Size>(path: string, sizes: readonly Size[], write: (size: Size) => string): Page {
  let text = "";
  for (const size of sizes) {
    text = write(size);
    if (Buffer.byteLength(text) <= pageBytes) break;
  }
  return pageOf(path, text);
}

/**
 * Returns the side bar: the groups, headings and lists of the first page. Throws if a group does not begin with a
 * paragraph.
 */
export function navOf(index: Page): NavGroup[] {
  const groups = index.markdown.split(/^## /m).slice(1);
  return groups.map((group) => {
    const [, title, summary, rest] = /^(.+)\n\n([^\n#-][^\n]*)\n\n([\s\S]*)$/.exec(group) ?? [];
    if (!title || !summary || !rest)
      throw new Error(`A group of ${index.path}.md must begin with a paragraph: ${group}`);
    const sections = rest.split(/^(?=### )/m).map((section) => ({
      title: /^### (.+)/.exec(section)?.[1] ?? "",
      links: [...section.matchAll(/^- \[([^\]]+)\]\(([^)#]+)\.md\)/gm)].map(([, title = "", path = ""]) => ({
        title,
        path,
      })),
    }));
    return { title, summary: plain(summary), sections };
  });
}

/** Returns the links of a group, in order. */
export const linksOf = ({ sections }: NavGroup): NavSection["links"] => sections.flatMap(({ links }) => links);

/**
 * Resolves a relative link of a page, from `/docs/`: `../start/install.md#tls` on `guides/x` is `start/install.md#tls`.
 */
export function resolveLink(from: string, href: string): string {
  return new URL(href, `docs:///${from}`).href.slice("docs:///".length);
}

/** Removes Markdown's inline marks. */
export const plain = (text: string): string => text.replace(/\[([^\]]+)\]\([^)]+\)/g, "$1").replace(/[`*]/g, "");
