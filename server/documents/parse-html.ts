import { htmlToMarkdown } from "@mdream/js";
import { decodeText } from "./decode.ts";
import { outlineMarkdown } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import { raisedEnd, raisedStart, withRaised } from "./raised.ts";

/** What is around the content of a page, or is code and drawing. Forms and asides hold whole pages. */
const around = ["nav", "footer", "button", "select", "svg", "noscript", "template", "iframe", "script", "style"];
const noise = ["title", ...around];

const blocks = { dl: "div", dt: "p", dd: "p", details: "div", summary: "p", center: "p", address: "p", legend: "p" };
const inline = ["ins", "u", "mark", "sub", "del", "s", "strike", "var", "samp"];
/** What has no Markdown of its own, and would be kept as it is. */
const plainTags = {
  ...blocks,
  ...Object.fromEntries(inline.map((tag) => [tag, { enter: "", exit: "" }])),
  sup: { enter: raisedStart, exit: raisedEnd },
};

/** A page of the web, as Markdown. Nothing that it names is loaded. */
export function parseHtml(bytes: Uint8Array, outline: Outline): void {
  const html = withInnerFeet(titled(decodeText(bytes, charsetOf(bytes))));
  const markdown = htmlToMarkdown(html, { plugins: { filter: { exclude: noise }, tagOverrides: plainTags } });
  // A picture in the page itself is a thousand words of noise.
  const text = markdown.replace(/!\[([^\]\n]{0,200})\]\(data:[^)\s]*\)/g, "$1");
  outlineMarkdown(withRaised(text).replace(/^\|.*$/gm, withoutTags), outline);
}

/** The foot of an article or of a quotation says whose it is; that of a page is around its content. */
function withInnerFeet(html: string): string {
  let depth = 0;
  return html.replace(
    /<(\/?)(article|blockquote|section|figure|footer)(?=[\s>])/gi,
    (tag, slash: string, name: string) => {
      if (name.toLowerCase() === "footer") return depth > 0 ? `<${slash}div` : tag;
      depth = Math.max(0, depth + (slash === "" ? 1 : -1));
      return tag;
    },
  );
}

/** A row of a table, in whose cells were lists and other tables: no Markdown can say so. What is code stays. */
const withoutTags = (row: string): string =>
  row.replace(
    /`[^`]*`|(?<!\\)<\/?(?:table|thead|tbody|tr|t[dh]|[uo]l|li|d[ltd]|p|div|center|br)(?:\s[^<>]{0,200})?\/?>/gi,
    (found) => (found.startsWith("`") ? found : " "),
  );

/** The title of the window is the page's heading, where it has no other one. */
function titled(html: string): string {
  const title = /<title[^>]{0,200}>([^<]{1,500})</i.exec(html.slice(0, 65_536))?.[1];
  return title === undefined || /<h1[\s>]/i.test(html) ? html : `<h1>${title}</h1>${html}`;
}

function charsetOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 2048)).toString("latin1");
  return /<meta[^>]{0,200}charset\s*=\s*["']?([\w-]{2,40})/i.exec(start)?.[1];
}
