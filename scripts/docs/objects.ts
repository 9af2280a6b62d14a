import { exampleOf } from "../../server/http/example-of.ts";
import { nameOf, type OpenApi, type Schema } from "../sdk-codegen/openapi.ts";
import { cell, fieldTable } from "./fields.ts";
import { type Page, pageOf, pageThatFits } from "./pages.ts";

/** Returns a page for each event of a stream, and one that lists them. */
export function eventPages({ components: { schemas } }: OpenApi, webhooks: Record<string, string>): Page[] {
  const events = Object.entries(schemas.Event!.discriminator!.mapping).map(([event, ref]) => {
    const { description = "", properties = {} } = schemas[nameOf(ref)]!;
    const example = exampleOf(properties.data as Record<string, unknown>, schemas as never);
    return { event, description, data: resolved(properties.data!, schemas), example };
  });
  const pages = events.map(({ event, description, data, example }) =>
    pageThatFits(`reference/events/${event}`, depths, (depth) => {
      const shown = JSON.stringify(example, null, 2);
      return `# ${event}\n\n${description}\n\n## Data\n\n${fieldTable(data, schemas, depth)}\n\n\`\`\`json\n${shown}\n\`\`\`\n`;
    }),
  );
  const rows = events.map(({ event, description }) => `| [\`${event}\`](${event}.md) | ${cell(description)} |`);
  const topics = Object.entries(webhooks).map(([event, about]) => `| \`${event}\` | ${about} |`);
  const index = pageOf("reference/events/index", aboutEvents(rows, topics));
  return [index, ...pages];
}

const aboutEvents = (rows: readonly string[], topics: readonly string[]): string => `# Events

Events say what happens in a run. You read them from its stream, and later from the list of its events.

The stream ends with exactly one of \`run.completed\` and \`run.failed\`. Every event is on disk before you see it, except
\`token\`. See [streaming](../../guides/streaming.md).

| Event | Meaning |
|---|---|
${rows.join("\n")}

A stream that may not go on ends with the event \`error\`. Its data is an [error](../errors/index.md).

## Events of webhooks

Webhooks are sent these. The body is a [WebhookEvent](../objects/WebhookEvent.md).

| Event | Meaning |
|---|---|
${topics.join("\n")}
`;

/** Returns the pages of the objects that these pages link to, directly or indirectly. */
export function objectPages(pages: readonly Page[], document: OpenApi): Page[] {
  const made = new Map<string, Page>();
  const returned = returnedBy(document);
  for (let left = [...pages]; left.length > 0; ) {
    const names = left.flatMap(({ markdown }) =>
      [...markdown.matchAll(/\.\.\/objects\/(\w+)\.md/g)].map((one) => one[1]!),
    );
    left = [...new Set(names)]
      .filter((name) => !made.has(name))
      .map((name) => objectPage(name, document.components.schemas, returned.has(name)));
    for (const page of left) made.set(page.path.split("/").at(-1)!, page);
  }
  return [...made.values()];
}

function objectPage(name: string, schemas: OpenApi["components"]["schemas"], isReturned: boolean): Page {
  const schema = schemas[name]!;
  const about =
    schema.description ??
    (isReturned
      ? `The object ${name}, as the API returns it.`
      : `${name} is a part of other objects, or of what requests send.`);
  const page = pageThatFits(
    `reference/objects/${name}`,
    depths,
    (depth) => `# ${name}\n\n${about}\n\n${fieldTable(schema, schemas, depth)}\n`,
  );
  return isReturned ? page : { ...page, isPart: true };
}

const depths = [4, 3, 2, 1, 0];

/** Returns the names of the objects that operations return, alone or in lists. */
function returnedBy({ paths, components: { schemas } }: OpenApi): Set<string> {
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
  const bodies = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ content }) => content?.["application/json"]?.schema.$ref ?? []),
  );
  const names = bodies.map(nameOf);
  const items = names.flatMap((name) => schemas[name]?.properties?.data?.items?.$ref ?? []);
  return new Set([...names, ...items.map(nameOf), "WebhookEvent"]);
}

const resolved = (schema: Schema, schemas: OpenApi["components"]["schemas"]): Schema =>
  schema.$ref ? schemas[nameOf(schema.$ref)]! : schema;
