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
