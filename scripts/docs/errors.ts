import { catalogue, runErrors } from "../../server/domain/errors.ts";
import { everyCode } from "../../server/http/describe-operations.ts";
import { type Page, pageOf } from "./pages.ts";

/** The parser's own responses, each with its condition. */
export const parserRefusals = [
  ["400", "two lengths of one body, or a length that is no number"],
  ["400", "broken chunks, or another transfer encoding than `chunked`"],
  ["400", "a header with a control character or a blank in its name, without a colon, or on two lines"],
  ["400", "no `Host`"],
  ["400", "an address that is none, or a blank or an empty line too many before it"],
  ["413", "a chunk with too large an extension"],
  ["431", "more than 64 KB of headers, or more than 200 of them"],
  ["505", "another version than HTTP/1.1 or 1.0, none, or a blank in the address"],
  ["none", "a method that no standard knows"],
] as const;

/** Returns a page for each type of error, one for the errors of runs, and one that lists them. */
export function errorPages(): Page[] {
  const byType = Map.groupBy(Object.entries(catalogue), ([, { type }]) => type);
  const pages = [...byType].map(([type, entries]) => {
    const parts = entries.map(([code, { status, meaning }]) => `## ${code}\n\nStatus ${status}. ${meaning}\n`);
    return pageOf(
      `reference/errors/${type}`,
      `# ${type}\n\n${abouts[type]} The \`type\` of the error is \`${type}\`.\n\n${parts.join("\n")}`,
    );
  });
  const ends = Object.entries(runErrors).map(([code, meaning]) => `## ${code}\n\n${meaning}\n`);
  const ofRuns = pageOf("reference/errors/run_error", `# run_error\n\n${abouts.run_error}\n\n${ends.join("\n")}`);
  const list = [...byType.keys(), "run_error" as const].map((type) => `- [${type}](${type}.md): ${abouts[type]}`);
  const ofAll = everyCode.map((code) => `- [\`${code}\`](${catalogue[code].type}.md#${code})`);
  return [pageOf("reference/errors/index", aboutErrors(list, ofAll)), ...pages, ofRuns];
}

const abouts: Record<(typeof catalogue)[keyof typeof catalogue]["type"] | "run_error", string> = {
  invalid_request_error: "The request is wrong: change it before you send it again.",
  authentication_error: "The request has no valid key or session.",
  permission_error: "The key or the person may not do this.",
  not_found_error: "What the request asks for does not exist.",
  conflict_error: "The request does not fit the present state.",
  idempotency_error: "The `Idempotency-Key` was used before.",
  rate_limit_error: "There were too many requests or runs: wait and try again.",
  api_error: "The server could not do it.",
  run_error: "Why a run failed: the run's own `error.code`. `retryable` says whether the same input may succeed later.",
};

const aboutErrors = (types: readonly string[], ofAll: readonly string[]): string => `# Errors

Every error has the same shape: a \`code\` for programs, and a \`message\` for people, which may change.

\`\`\`json
{
  "error": {
    "type": "invalid_request_error",
    "code": "validation_failed",
    "message": "The request is not valid.",
    "param": "name",
    "doc_url": "https://127.0.0.1:8443/docs/reference/errors/invalid_request_error#validation_failed"
  },
  "request_id": "req_01k6w3v5r8d2f9h1j4m7n0p3qs"
}
\`\`\`

\`doc_url\` leads to the page that explains the code. Give the \`request_id\` to the operator when you ask about an error.

A request without a valid key gets 401 before anything else about it is looked at.

## Types

${types.join("\n")}

## Errors of every operation

${ofAll.join("\n")}

The page of an [operation](../api/index.md) lists the others that it may return.

## Requests that are not HTTP

The parser refuses these, and only these, before the API sees them. The response has no \`X-Request-Id\` and no body of this shape, and the connection closes.

| Status | When |
|---|---|
${parserRefusals.map((row) => `| ${row.join(" | ")} |`).join("\n")}

## Parts of an address

A part of the path that is \`.\` or \`..\`, written out or as \`%2e\`, is 400 \`validation_failed\`, also without a key: most HTTP
libraries read it as a step up, and would ask for another address. The clients refuse such a part, and an empty one, before they send anything.

## Slow and large requests

- A body of which nothing comes for about ten seconds gets 408 \`body_timeout\`, and the connection closes. One that is slow goes on as long as it moves.
- A connection that is silent or too slow is closed: after 12 seconds in its headers, after 30 seconds anywhere else.
- A body that is refused as too large (413), or for want of disk space (507), is read to its end first, so that your client gets the
  response. Beyond 128 MB or 30 seconds, or after a pause of a second, the connection closes.
`;
