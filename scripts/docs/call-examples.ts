import { pythonCalls, typescriptCalls } from "../../dashboard/src/lib/client-code.ts";
import type { Operation, Parameter } from "../sdk-codegen/openapi.ts";

/** Returns the call of an operation in every client language, as adjacent fences. */
export function callExamples(method: string, path: string, operation: Operation): string {
  const { operationId, requestBody, parameters } = operation;
  const body = requestBody?.content["application/json"]?.example;
  const ids = parameters.filter((one) => one.in === "path").map(exampleOf);
  const call = { operationId, ids, body };
  const address = ids.reduce((given, id) => given.replace(/\{\w+\}/, id), path);
  return [
    `\`\`\`bash\n${curl(method, address, body)}\n\`\`\``,
    `\`\`\`ts\n${typescriptCalls([call])}\n\`\`\``,
    `\`\`\`python\n${pythonCalls([call])}\n\`\`\``,
  ].join("\n\n");
}

function curl(method: string, address: string, body: unknown): string {
  const start = `curl -sS${method === "GET" ? "" : ` -X ${method}`} "$RUNNEL_URL${address}" \\`;
  const key = '  -H "Authorization: Bearer $RUNNEL_API_KEY"';
  if (body === undefined) return `${start}\n${key}`;
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `${start}\n${key} \\\n  -H "Content-Type: application/json" \\\n  -d '${json}'`;
}

/** Returns an example id that matches the parameter's pattern; otherwise a placeholder. */
function exampleOf({ name, schema }: Parameter): string {
  const prefix = /^\^([a-z]+_)\[/.exec(schema.pattern ?? "")?.[1];
  return prefix ? `${prefix}01k6w3v5r8d2f9h1j4m7n0p3qs` : (words[name] ?? "1");
}

const words: Record<string, string> = { name: "WEATHER_KEY", key: "language" };
