import type { PageTool } from "../../../domain/agent-snapshot.ts";
import { EgressError, type EgressResponse } from "../../../lib/egress.ts";
import { matchesHost } from "../../../lib/host-rules.ts";
import { contentTypeOf } from "../../../lib/mime-type.ts";
import { hideInAnyCase } from "../../../lib/redact.ts";
import { joinChunk } from "../../documents/join-chunks.ts";
import { withMemoryBudget } from "../response-memory-budget.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

const pageBytes_max = 8 * 2 ** 20;
const redirectsMax = 5;
/** Characters of one result. Longer pages are read by several calls. */
const partLength = 20_000;
const chunking = { max_chunk_size_tokens: 4096, chunk_overlap_tokens: 200 };
/** At least the characters of the chunks' overlap. */
const overlapLength_max = 4096;

/** Reads a page of the web, or another document, as Markdown. */
export const run: ToolRunner<PageTool> = async (call, tool, context, signal) => {
  const { url, offset } = call.arguments as { url: string; offset?: number };
  const address = URL.parse(url);
  if (!address || !["https:", "http:"].includes(address.protocol))
    return toolError("url_invalid", "Expected the whole address of a page, such as https://example.com/page.", 0);
  return withMemoryBudget({ ...context, tool_id: tool.id }, signal, async (beforeLong) => {
    const fetched = await fetchPage(address, tool, context, signal, beforeLong);
    if ("error" in fetched) return fetched;
    const text = await readText(fetched, context, signal);
    if (typeof text !== "string") return text;
    return { output: partOf(text, fetched.url, offset ?? 0), error: null, attempts: 1 };
  });
};

/** Follows redirects itself, because each of their hosts must be allowed. */
async function fetchPage(
  start: URL,
  { page: { allowed_hosts, timeout_ms } }: PageTool,
  { egress, hidden }: ToolContext,
  signal: AbortSignal,
  beforeLong: () => Promise<void>,
): Promise<EgressResponse | ToolResult> {
  let url = start;
  const deadline = performance.now() + timeout_ms;
  try {
    for (let hop = 0; hop <= redirectsMax; hop++) {
      if (allowed_hosts && !matchesHost(url, allowed_hosts))
        return toolError("host_not_allowed", `This tool may not read pages of ${url.host}.`, hop);
      const response = await egress.fetch(url.href, {
        headers: { accept: "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5" },
        signal,
        // The model, or a page that it has read, chooses the address.
        publicOnly: allowed_hosts === null,
        timeoutMs: Math.max(1, deadline - performance.now()),
        maxBytes: pageBytes_max,
        beforeLong,
      });
      const location = response.headers.get("location");
      if (response.status >= 300 && response.status < 400 && location !== null) {
        const next = URL.parse(location, url.href);
        if (!next) return toolError("http_error", "The page redirects to an address that cannot be read.", hop + 1);
        url = next;
        continue;
      }
      if (response.status < 200 || response.status >= 300)
        return toolError("http_error", `The server of the page answered with status ${response.status}.`, hop + 1);
      if (response.truncated)
        return toolError("output_too_large", `The page is larger than ${pageBytes_max} bytes.`, hop + 1);
      return { ...response, url: url.href };
    }
    return toolError("too_many_redirects", "The page was redirected too often.", redirectsMax + 1);
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return toolError(error.code, hideInAnyCase(error.message, hidden()), 1, error.request);
  }
}

/** Converts a page in the jail, because it is a foreign document. */
async function readText(
  { body, headers, url }: EgressResponse,
  { readDocument }: ToolContext,
  signal: AbortSignal,
): Promise<string | ToolResult> {
  const contentType = headers.get("content-type") ?? "";
  const mime_type = contentTypeOf(headers) || "text/html";
  if (body.length === 0) return "";
  const outcome = await readDocument(
    {
      mime_type,
      bytes: body.length,
      chunking,
      encoding: /charset="?([\w.:-]{1,40})/i.exec(contentType)?.[1] ?? null,
      include_hidden: false,
      content: [body],
    },
    signal,
  );
  if ("error" in outcome) {
    const { code, message } = outcome.error;
    return toolError(code, code === "document_unreadable" ? `No text can be read from ${mime_type}.` : message);
  }
  const text = outcome.chunks.reduce((before, { text }) => joinChunk(before, text, overlapLength_max), "");
  return withWholeLinks(text, url);
}

/** Resolves the addresses of links, which the model would otherwise be unable to follow. */
const withWholeLinks = (markdown: string, base: string): string =>
  markdown.replace(/\]\(([^()\s]{1,2000})(?=[\s)])/g, (link, target: string) => {
    const whole = URL.parse(target, base);
    return whole ? `](${whole.href}` : link;
  });

function partOf(text: string, url: string, offset: number) {
  const start = isWithinCharacter(text, offset) ? offset - 1 : offset;
  const end = start + partLength;
  const next = isWithinCharacter(text, end) ? end - 1 : end;
  const content = text.slice(start, next).toWellFormed();
  return { url, content, next_offset: next < text.length ? next : null, length: text.length };
}

/** True between both halves of a character such as an emoji. */
const isWithinCharacter = (text: string, at: number): boolean =>
  /^[\uD800-\uDBFF][\uDC00-\uDFFF]/.test(text.slice(at - 1, at + 1));
