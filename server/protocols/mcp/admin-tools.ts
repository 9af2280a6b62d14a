import type { DescribedOperation } from "../../http/describe-operations.ts";
import { requireValue } from "../../lib/require-value.ts";
import { toSafeString } from "../../lib/safe-string.ts";
import type { Params } from "./protocol.ts";

/** Operations that editors may use. */
const operationIds = [
  "agents.list",
  "agents.retrieve",
  "agents.create",
  "agents.update",
  "agents.versions.list",
  "runs.list",
  "runs.retrieve",
  "runs.create",
  "runs.cancel",
  "runs.submit_tool_outputs",
  "runs.replay",
  "traces.list",
  "traces.retrieve",
  "tools.list",
  "tools.retrieve",
  "models.list",
] as const;

type Place = "path" | "query" | "body";

export interface AdminTool {
  /** Tool definition for clients. */
  shown: { name: string; title: string; description: string; inputSchema: object; annotations: object };
  /** Returns the API request of a call. */
  requestOf(args: Params): { method: string; path: string; body?: Params };
}

/** Converts API operations to tools: parameters and body fields become arguments. */
export const adminTools = (operations: readonly DescribedOperation[]): Map<string, AdminTool> =>
  new Map(
    operationIds.map((id) => {
      const operation = operations.find((each) => each.id === id);
      const tool = toolOf(requireValue(operation, `The operation ${id}`));
      return [tool.shown.name, tool];
    }),
  );

function toolOf({ id, method, path, summary, description, parameters, takes }: DescribedOperation): AdminTool {
  const body = (takes?.["application/json"] ?? {}) as { properties?: Record<string, object>; required?: string[] };
  // Skip names in brackets, which stand for many parameters and fit no schema of arguments.
  const visibleParameters = parameters.filter((one) => one.in !== "header" && !one.name.includes("["));
  const places = new Map<string, Place>([
    ...visibleParameters.map((one) => [one.name, one.in as Place] as const),
    ...Object.keys(body.properties ?? {}).map((name) => [name, "body"] as const),
  ]);
  // A tool's result is one response and never a stream.
  places.delete("stream");
  places.delete("frames");
  const schemas = {
    ...Object.fromEntries(visibleParameters.map((one) => [one.name, { description: one.description, ...one.schema }])),
    ...body.properties,
  };
  const required = [
    ...visibleParameters.filter((one) => one.required).map((one) => one.name),
    ...(body.required ?? []),
  ];
  const schemaOf = (name: string) => plain(requireValue(schemas[name], `The schema of ${name}`));
  const properties = Object.fromEntries([...places.keys()].map((name) => [name, schemaOf(name)]));
  return {
    shown: {
      name: id.replaceAll(".", "_"),
      title: summary,
      description: `${summary}. ${description}`,
      inputSchema: { type: "object", properties, required, additionalProperties: false },
      annotations: { readOnlyHint: method === "GET", destructiveHint: false, openWorldHint: false },
    },
    requestOf(args) {
      const argumentsIn = (place: Place | undefined) =>
        Object.entries(args).filter(([name]) => places.get(name) === place);
      // The API refuses unknown arguments by name.
      const queryParams = new URLSearchParams();
      for (const [name, value] of [...argumentsIn("query"), ...argumentsIn(undefined)])
        queryParams.append(name, toSafeString(value));
      const filledPath = argumentsIn("path").reduce(
        (path, [name, value]) => path.replace(`:${name}`, encodeURIComponent(toSafeString(value))),
        path,
      );
      return {
        method,
        path: queryParams.size > 0 ? `${filledPath}?${queryParams}` : filledPath,
        ...(takes && { body: Object.fromEntries(argumentsIn("body")) }),
      };
    },
  };
}

/** Returns the schema without marks of the schema library and of the OpenAPI document. */
const plain = (schema: object): object =>
  JSON.parse(
    JSON.stringify(schema, (key, value) => (key === "component" && typeof value === "string" ? undefined : value)),
  );
