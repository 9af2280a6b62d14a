import { htmlToMarkdown } from "@mdream/js";
import { ownValue } from "../../lib/collections.ts";
import { declaredInHtml } from "./declared-encoding.ts";
import { decodeDocument } from "./decode-document.ts";
import { watchHidden } from "./hidden-html-text.ts";
import { createHiddenText } from "./hidden-text.ts";
import { outlineMarkdown } from "./markdown.ts";
import type { Outline } from "./outline.ts";
import { defaultOptions, type ParseOptions } from "./parse-options.ts";
import { protectText, restoreText, withoutSigns } from "./plain-html-text.ts";
import { markRaisedText, raisedEnd, raisedStart } from "./raised.ts";

/**
 * Elements around a page's content, code and graphics. Forms and asides are kept, because they can hold whole pages.
 */
const around = ["nav", "footer", "button", "select", "svg", "noscript", "template", "iframe", "script", "style"];
const noise = ["title", ...around];

const blocks = { dl: "div", dt: "p", dd: "p", details: "div", summary: "p", center: "p", address: "p", legend: "p" };
const inline = ["ins", "u", "mark", "sub", "del", "s", "strike", "var", "samp"];
/** Elements without a Markdown equivalent, which would otherwise be kept as HTML. */
const plainTags = {
  ...blocks,
  ...Object.fromEntries(inline.map((tag) => [tag, { enter: "", exit: "" }])),
  sup: { enter: raisedStart, exit: raisedEnd },
  // Fields stand apart from the words beside them.
  textarea: { enter: " ", exit: " " },
};

/** Elements of HTML that the converter knows, or that are replaced before it. */
const knownTags = new Set(
  "a abbr address area article aside audio b base bdo blockquote body br button canvas caption center cite code col colgroup datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label legend li link main map mark math meta meter nav noembed noframes noscript object ol optgroup option p param plaintext pre progress q rp rt ruby s samp script search section select small source span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead time title tr track u ul var video wbr xmp".split(
    " ",
  ),
);
const otherTags: Record<string, string> = { hgroup: "div", menu: "ul", dir: "ul" };

/** Makes spans of all other elements: the converter would join the words before and within them. */
const withKnownTags = (html: string): string =>
  html.replace(/<(\/?)([a-z][\w:.-]*)(?=[\s/>])/gi, (tag, slash: string, given: string) => {
    const name = given.toLowerCase();
    return knownTags.has(name) ? tag : `<${slash}${ownValue(otherTags, name) ?? "span"}`;
  });

/** Converts a web page to Markdown. Nothing that it references is loaded. */
export function parseHtml(
  bytes: Uint8Array,
  outline: Outline,
  options: Pick<ParseOptions, "encoding" | "includeHidden"> = defaultOptions,
): void {
  const html = withInnerFeet(withKnownTags(titled(decodeDocument(bytes, outline, options, declaredInHtml(bytes)))));
  const hiddenText = createHiddenText(outline, options.includeHidden);
  const visibility = watchHidden(options.includeHidden);
  const markdown = htmlToMarkdown(html, {
    plugins: { filter: { exclude: noise }, tagOverrides: plainTags },
    hooks: [visibility.hook, protectText],
  });
  for (const text of visibility.texts()) hiddenText.skip("text", text, "");
  hiddenText.warn();
  // An image in a data URL would be thousands of meaningless characters.
  const text = withoutSigns(markdown).replace(/!\[([^\]\n]{0,200})\]\(data:[^)\s]*\)/g, "$1");
  outlineMarkdown(markRaisedText(text).replace(/^\|.*$/gm, stripTags), outline, restoreText);
}

/** Keeps the footers of articles and quotations, which name the author; the page's own footer is dropped. */
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

/** Removes tags from table rows, in which Markdown cannot express lists and nested tables. Code is kept. */
const stripTags = (row: string): string =>
  row.replace(
    /`[^`]*`|(?<!\\)<\/?(?:table|thead|tbody|tr|t[dh]|[uo]l|li|d[ltd]|p|div|center|br)(?:\s[^<>]{0,200})?\/?>/gi,
    (found) => (found.startsWith("`") ? found : " "),
  );

/** Uses the `<title>` as heading if the page has no other one. */
function titled(html: string): string {
  const title = /<title[^>]{0,200}>([^<]{1,500})</i.exec(html.slice(0, 65_536))?.[1];
  return title === undefined || /<h1[\s>]/i.test(html) ? html : `<h1>${title}</h1>${html}`;
}
