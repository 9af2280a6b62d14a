import { nameOf, type OpenApi, type Operation, type Schema } from "../clients/openapi.ts";
import { type Page, pageOf } from "./pages.ts";

/** A page for each operation, one for each resource that lists them, and one for each object that they return. */
export function operationPages(document: OpenApi): Page[] {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const byTag = Map.groupBy(operations, ({ operation }) => operation.tags[0]!);
  const resources = [...byTag].map(([tag, its]) =>
    pageOf(
      `reference/api/${slug(tag)}`,
      `# ${tag}\n\nThe operations of ${tag.toLowerCase()}.\n\n| Operation | Request |\n|---|---|\n${its.map(({ path, method, operation }) => `| [${operation.summary}](${operation.operationId}.md) | \`${method} ${path}\` |`).join("\n")}\n`,
    ),
  );
  const index = pageOf(
    "reference/api/index",
    `# API\n\nThe API speaks JSON over HTTPS, and server-sent events. [\`/docs/openapi.json\`](/docs/openapi.json) describes it in OpenAPI 3.1.\n\n${[...byTag.keys()].map((tag) => `- [${tag}](${slug(tag)}.md)`).join("\n")}\n`,
  );
  return [index, ...resources, ...operations.map((one) => operationPage(one, document)), ...objectPages(document)];
}

const slug = (tag: string): string => tag.toLowerCase().replaceAll(" ", "-");

function operationPage(
  { path, method, operation }: { path: string; method: string; operation: Operation },
  document: OpenApi,
): Page {
  const { operationId, summary, description, parameters, requestBody, responses } = operation;
  const [media, body] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const parts = [`# ${summary}`, description, `\`\`\`http\n${method} ${path}\n\`\`\``];
  if (parameters.length > 0)
    parts.push(
      `## Parameters\n\n| Name | In | Type | Description |\n|---|---|---|---|\n${parameters.map(({ name, in: place, required, description, schema }) => `| \`${name}\`${required ? " (required)" : ""} | ${place} | ${typeOf(schema)} | ${cell(description)} |`).join("\n")}`,
    );
  if (media && body) {
    parts.push(`## Body\n\n${fieldsOf(resolved(body.schema, document))}`);
    if (body.example !== undefined) parts.push(`\`\`\`json\n${JSON.stringify(body.example, null, 2)}\n\`\`\``);
  }
  const rows = Object.entries(responses).map(([status, response]) => {
    const { description = "", content } = response.$ref
      ? { ...document.components.responses[nameOf(response.$ref)], content: undefined }
      : response;
    const schema = content?.["application/json"]?.schema;
    return `| ${status} | ${cell(description)} | ${schema ? typeOf(schema) : ""} |`;
  });
  parts.push(`## Responses\n\n| Status | When | Body |\n|---|---|---|\n${rows.join("\n")}`);
  return pageOf(`reference/api/${operationId}`, `${parts.join("\n\n")}\n`);
}

/** Bodies of requests stand on the page of their operation; the parts of an object stand on its own. */
function objectPages({ components: { schemas } }: OpenApi): Page[] {
  return Object.entries(schemas)
    .filter(([name]) => !/Request(InParts)?$/.test(name))
    .map(([name, schema]) =>
      pageOf(
        `reference/objects/${name}`,
        `# ${name}\n\n${schema.description ?? `What the API returns as ${name}.`}\n\n${fieldsOf(schema)}\n`,
      ),
    );
}

/** A page for each event of a stream, and one that lists them. */
export function eventPages({ components: { schemas } }: OpenApi): Page[] {
  const events = Object.entries(schemas.Event?.discriminator?.mapping ?? {}).map(([event, ref]) => {
    const { description, properties = {} } = schemas[nameOf(ref)]!;
    return { event, description: description ?? "", data: properties.data ?? {} };
  });
  const pages = events.map(({ event, description, data }) =>
    pageOf(
      `reference/events/${event}`,
      `# ${event}\n\n${description || `The event \`${event}\` of a run's stream.`}\n\n## Data\n\n${fieldsOf(resolved(data, { components: { schemas } }))}\n`,
    ),
  );
  const rows = events.map(({ event, description }) => `| [\`${event}\`](${event}.md) | ${cell(description)} |`);
  const index = pageOf(
    "reference/events/index",
    `# Events\n\nWhat the stream of a run sends, and \`GET /v1/runs/:id/events\` lists.\n\n| Event | When |\n|---|---|\n${rows.join("\n")}\n`,
  );
  return [index, ...pages];
}

function fieldsOf(schema: Schema): string {
  const { properties = {}, required = [] } = schema;
  const rows = Object.entries(properties).map(
    ([name, its]) =>
      `| \`${name}\`${required.includes(name) ? " (required)" : ""} | ${typeOf(its)} | ${cell(`${its.description ?? ""}${boundsOf(its)}`)} |`,
  );
  if (rows.length > 0) return `| Field | Type | Description |\n|---|---|---|\n${rows.join("\n")}`;
  return `${typeOf(schema)}.`;
}

const resolved = (
  schema: Schema,
  { components: { schemas } }: { components: { schemas: Record<string, Schema> } },
): Schema => (schema.$ref ? schemas[nameOf(schema.$ref)]! : schema);

function typeOf(schema: Schema): string {
  const { $ref, type, items, anyOf, oneOf, const: only, enum: values } = schema;
  if ($ref) return linkTo(nameOf($ref));
  if (only !== undefined) return `\`${JSON.stringify(only)}\``;
  if (values) return values.map((value) => `\`${JSON.stringify(value)}\``).join(", ");
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(" or ");
  if (items) return `array of ${typeOf(items)}`;
  return [type ?? "any value"].flat().join(" or ");
}

const linkTo = (name: string): string => (/Request(InParts)?$/.test(name) ? name : `[${name}](../objects/${name}.md)`);

function boundsOf({ default: value, minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string {
  const facts = [
    minimum !== undefined && maximum !== undefined && `From ${minimum} to ${maximum}.`,
    minimum !== undefined && maximum === undefined && `At least ${minimum}.`,
    minimum === undefined && maximum !== undefined && `At most ${maximum}.`,
    minLength !== undefined && minLength > 1 && `At least ${minLength} characters.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
    minItems !== undefined && `At least ${minItems} items.`,
    maxItems !== undefined && `At most ${maxItems} items.`,
    value !== undefined && `Default: \`${JSON.stringify(value)}\`.`,
  ].filter(Boolean);
  return facts.length > 0 ? ` ${facts.join(" ")}` : "";
}

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
