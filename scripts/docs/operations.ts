import { catalogue, type ErrorCode } from "../../server/domain/errors.ts";
import { prefixes } from "../../server/domain/ids.ts";
import { everyCode } from "../../server/http/describe-operations.ts";
import { nameOf, type OpenApi, type Operation, type Schema } from "../sdk-codegen/openapi.ts";
import { callExamples } from "./call-examples.ts";
import { boundsOf, cell, fieldTable, typeOf } from "./fields.ts";
import { type Page, pageOf, pageThatFits } from "./pages.ts";

interface Listed {
  method: string;
  path: string;
  operation: Operation;
}

/** Returns a page for each operation, one for each resource that lists them, and one that lists the resources. */
export function operationPages(document: OpenApi): Page[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0]!);
  const resources = document.tags.map(({ name, description }) => resourcePage(name, description, byTag.get(name)!));
  const list = document.tags.map(({ name, description }) => `- [${name}](${slug(name)}.md): ${description}`);
  const index = pageOf("reference/api/index", `${aboutApi}\n${list.join("\n")}\n`);
  return [index, ...resources, ...operations.map((one) => operationPage(one, document))];
}

const aboutApi = `# API

The API speaks JSON over HTTPS, and server-sent events. Every address begins with \`/v1\`.

[\`/docs/openapi.json\`](/docs/openapi.json) describes it in OpenAPI 3.1. The clients for
[TypeScript and Python](../../start/quickstart.md) have a method for each operation, under the same name.

## Requests

- Send your API key with every request: \`Authorization: Bearer <API key>\`. A key has scopes: \`read\`, \`run\` and \`admin\`.
- A body is JSON in UTF-8. Fields and query parameters that do not exist are refused.
- To send a \`POST\` again safely, give it an \`Idempotency-Key\`. For 24 hours it is carried out once.
- \`HEAD\` returns what \`GET\` does, without the body, and counts like it.
- Send an id of your own as \`X-Client-Request-Id\`, up to 128 characters. The log has it beside the request's id.

## Responses

- Every response has \`X-Request-Id\`. Errors have one shape: see [errors](../errors/index.md).
- \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\` tell what is left: see [limits](../limits.md).
- A \`DELETE\` returns \`id\`, \`object\` and \`deleted: true\`. The second time it returns 404.
- Times are RFC 3339 in UTC with milliseconds. Durations are numbers, and their names end in \`_ms\` or \`_seconds\`.
- Fields may be added at any time. Ignore those that you do not know.

## Lists

- A list has \`data\` and \`has_more\`. For the next page, send \`last_id\` as \`starting_after\`.
- What is created or deleted between two pages neither repeats nor hides an item.
- A cursor is a place in the list. It stays good when its item is deleted.
- A page has at most 1 MiB, so it may end before \`limit\` items. Go on while \`has_more\` is true.
- An item that you can read by its id is a summary. A text has at most its first 4,096 characters, and another value of more than
  8,192 characters is empty. \`truncated\` names these fields.

## Ids

An id is a prefix and 26 characters. The prefix says what it is of. Ids sort by the time of their creation.

| Prefix | Of |
|---|---|
${Object.entries(prefixes)
  .map(([kind, prefix]) => `| \`${prefix}_\` | ${kind.replaceAll("_", " ")} |`)
  .join("\n")}

## Resources
`;

function resourcePage(tag: string, description: string, operations: readonly Listed[]): Page {
  const rows = operations.map(
    ({ path, method, operation }) =>
      `| [${operation.summary}](${operation.operationId}.md) | \`${method} ${path}\` | \`${operation.operationId}\` |`,
  );
  return pageOf(
    `reference/api/${slug(tag)}`,
    `# ${tag}\n\n${description}\n\n| Operation | Request | Name |\n|---|---|---|\n${rows.join("\n")}\n`,
  );
}

const slug = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

/** Levels of detail of an operation: the largest that fits on a page is used. */
const sizes = [
  { depth: 4, example: true },
  { depth: 3, example: true },
  { depth: 2, example: true },
  { depth: 2, example: false },
  { depth: 1, example: false },
  { depth: 0, example: false },
];

function operationPage(listed: Listed, document: OpenApi): Page {
  const { path, method, operation } = listed;
  const { operationId, summary, description, parameters, tags } = operation;
  const [scope = "", ...more] = description.split(/(?<=\.) /);
  const bucket = /counts for `(\w+)`/.exec(scope)?.[1] ?? "";
  const needs = /the scope (.*), and/.exec(scope)?.[1] ?? "";
  const start = [
    `# ${summary}`,
    `${summary}. The API key needs the scope ${needs}. ${more.join(" ")}`.trim(),
    `\`\`\`http\n${method} ${path}\n\`\`\``,
    `It is an operation of [${tags[0]}](${slug(tags[0]!)}.md), and counts for [\`${bucket}\`](../limits.md#${bucket}).`,
  ];
  if (parameters.length > 0) start.push(`## Parameters\n\n${parameterTable(operation)}`);
  return pageThatFits(`reference/api/${operationId}`, sizes, ({ depth, example }) =>
    [
      ...start,
      ...bodyOf(operation, document, depth),
      `## Example\n\n${callExamples(method, path, operation)}`,
      `## Response\n\n${responseOf(operation, document, example)}`,
      `## Errors\n\n${errorsOf(operation, document)}`,
    ].join("\n\n"),
  );
}

function parameterTable({ parameters }: Operation): string {
  const rows = parameters.map(
    ({ name, in: place, required, description, schema }) =>
      `| \`${name}\`${required ? " (required)" : ""} | ${place} | ${typeOf(schema)} | ${cell(description + boundsOf(schema))} |`,
  );
  return `| Name | In | Type | Description |\n|---|---|---|---|\n${rows.join("\n")}`;
}

function bodyOf({ requestBody }: Operation, { components: { schemas } }: OpenApi, depth: number): string[] {
  return Object.entries(requestBody?.content ?? {}).flatMap(([media, { schema }]) => {
    const title = media === "application/json" ? "## Body" : `## Body as \`${media}\``;
    const whole = schema.$ref ? schemas[nameOf(schema.$ref)]! : schema;
    const isEmpty = whole.type === undefined && Object.keys(whole).length === 0;
    return [`${title}\n\n${isEmpty ? "The content itself." : fieldTable(whole, schemas, depth, true)}`];
  });
}

function responseOf({ responses }: Operation, { components: { schemas } }: OpenApi, withExample: boolean): string {
  const successes = Object.entries(responses).filter(([status]) => /^[23]/.test(status));
  const rows = successes.map(([status, { description = "", content = {} }]) => {
    const schema = content["application/json"]?.schema;
    const others = Object.keys(content).filter((media) => media !== "application/json");
    const bodies = [...(schema ? [bodyType(schema, schemas)] : []), ...others.map((media) => `\`${media}\``)];
    return `| ${status} | ${cell(description)} | ${bodies.join(" or ") || "none"} |`;
  });
  const table = `| Status | When | Body |\n|---|---|---|\n${rows.join("\n")}`;
  const shown = successes.map(([, { content }]) => content?.["application/json"]).find((json) => json !== undefined);
  if (!withExample || !shown || Object.keys(shown.schema).length === 0 || !shown.schema.$ref) return table;
  return `${table}\n\n\`\`\`json\n${JSON.stringify(shown.example, null, 2)}\n\`\`\``;
}

/** A page of a list is described by its items. */
function bodyType(schema: Schema, schemas: OpenApi["components"]["schemas"]): string {
  const name = schema.$ref ? nameOf(schema.$ref) : "";
  const items = name.endsWith("List") && schemas[name]?.properties?.data?.items;
  return items ? `list of ${typeOf(items)}` : typeOf(schema);
}

function errorsOf({ responses }: Operation, { components }: OpenApi): string {
  const own = Object.entries(responses).flatMap(([status, { $ref }]) => {
    const codes = $ref ? (components.responses[nameOf($ref)]!["x-error-codes"] ?? []) : [];
    const special = codes.filter((code) => !everyCode.includes(code as never));
    return special.length > 0 ? [`| ${status} | ${special.map(linkToError).join(", ")} |`] : [];
  });
  const table = own.length > 0 ? `| Status | Code |\n|---|---|\n${own.join("\n")}\n\n` : "";
  return `${table}And what [every operation](../errors/index.md#errors-of-every-operation) may return.\n`;
}

/** Returns the link to an error code. */
const linkToError = (code: ErrorCode): string => `[\`${code}\`](../errors/${catalogue[code].type}.md#${code})`;
