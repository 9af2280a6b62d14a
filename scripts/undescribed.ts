type Node = Record<string, unknown>;

/**
 * Returns the gaps of an OpenAPI document: properties, parameters and headers without description, operations without
 * an example of their request or response.
 */
export function findMissingDescriptions(document: Node): string[] {
  const missing: string[] = [];
  const { schemas = {}, headers = {} } = document.components as Record<string, Record<string, Node>>;
  for (const [name, { properties = {} }] of Object.entries(schemas))
    for (const [field, property] of Object.entries(properties as Record<string, Node>))
      if (!property.description) missing.push(`${name}.${field}`);
  for (const [name, header] of Object.entries(headers)) if (!header.description) missing.push(`header ${name}`);
  for (const { name, description } of document.tags as Node[]) if (!description) missing.push(`tag ${name}`);
  for (const methods of Object.values(document.paths as Record<string, Record<string, Node>>))
    for (const { operationId, parameters = [], requestBody, responses } of Object.values(methods)) {
      for (const { name, description } of parameters as Node[])
        if (!description) missing.push(`${operationId}?${name}`);
      const parts = { request: [requestBody], response: Object.values(responses as Node) };
      for (const [part, bodies] of Object.entries(parts))
        for (const body of bodies) {
          const format = (body as { content?: Record<string, Node> } | undefined)?.content?.["application/json"];
          if (format && !isAnyObject(format.schema as Node) && !("example" in format))
            missing.push(`${operationId} has no example of its ${part}`);
        }
    }
  return missing;
}

/** True for a schema of any object. */
const isAnyObject = (schema: Node): boolean =>
  schema.type === "object" && Object.keys(schema).every((key) => key === "type" || key === "description");

/**
 * Returns the properties whose description says nothing beside the words of their own name and of their object's, with
 * the description: `Agent.name: Its name.`
 */
export function findEmptyDescriptions(document: Node): string[] {
  const { schemas = {} } = document.components as Record<string, Record<string, Node>>;
  return Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties as Record<string, Node>).flatMap(([field, { description }]) => {
      const known = stemsIn(`${name} ${field}`);
      const isEmpty = typeof description === "string" && [...stemsIn(description)].every((stem) => known.has(stem));
      return isEmpty ? [`${name}.${field}: ${description}`] : [];
    }),
  );
}

/** Words that say nothing by themselves. A name is a name, so the word says no more than `its` does. */
const fillers = new Set(
  (
    "a all also an and any are as at be been by can each every field for from had has have how if in is it its may more no none not null " +
    "object of on one only or other own property that the their them there these they this those to value was were what when where whether " +
    "which who whom whose why will with you your"
  ).split(" "),
);

/** Returns the words of a text or a name in one form: `RunToolCalls`, `tool_call` and "tool calls" share two of them. */
function stemsIn(text: string): Set<string> {
  const words = text
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase()
    .match(/[a-z0-9]+/g);
  return new Set(
    (words ?? []).filter((word) => !fillers.has(word)).map((word) => word.replace(/(?:ies|es|ed|ing|[sedy])$/, "")),
  );
}

/** Units by the end of a property's name. */
const units: Record<string, RegExp> = {
  _ms: /\bmilliseconds?\b/,
  _seconds: /\bseconds?\b/,
  _usd: /\b(US dollars?|USD)\b/,
  _mb: /\bmegabytes?\b/i,
  bytes: /\bbytes?\b/,
};

/** Returns the properties whose description lacks the unit that their name shortens. */
export function findMissingUnits(document: Node): string[] {
  const { schemas = {} } = document.components as Record<string, Record<string, Node>>;
  return Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
    Object.entries(properties as Record<string, Node>).flatMap(([field, { description = "" }]) => {
      const [, unit] = Object.entries(units).find(([end]) => field.endsWith(end)) ?? [];
      return unit && !unit.test(String(description)) ? [`${name}.${field}`] : [];
    }),
  );
}
