import { nameOf, type OpenApi, type Operation, type Parameter } from "../clients/openapi.ts";
import { safe } from "../clients/python.ts";
import { camel } from "../clients/typescript.ts";

/** A request of an operation in every language, as the clients have it: fences that stand side by side. */
export function callExamples(method: string, path: string, operation: Operation, document: OpenApi): string {
  const { operationId, requestBody, parameters } = operation;
  const body = requestBody?.content["application/json"]?.example;
  const ids = parameters.filter((one) => one.in === "path").map(exampleOf);
  const call = { operationId, ids, body, returned: returnedBy(operation, document) };
  const address = ids.reduce((given, id) => given.replace(/\{\w+\}/, id), path);
  return [
    `\`\`\`bash\n${curl(method, address, body)}\n\`\`\``,
    `\`\`\`ts\n${typescript(call)}\n\`\`\``,
    `\`\`\`python\n${python(call)}\n\`\`\``,
  ].join("\n\n");
}

interface Call {
  operationId: string;
  ids: readonly string[];
  body: unknown;
  returned: "list" | "object" | "bytes";
}

function curl(method: string, address: string, body: unknown): string {
  const start = `curl -sS${method === "GET" ? "" : ` -X ${method}`} "$RUNNEL_URL${address}" \\`;
  const key = '  -H "Authorization: Bearer $RUNNEL_API_KEY"';
  if (body === undefined) return `${start}\n${key}`;
  const json = JSON.stringify(body, null, 2).replaceAll("'", "'\\''");
  return `${start}\n${key} \\\n  -H "Content-Type: application/json" \\\n  -d '${json}'`;
}

function typescript({ operationId, ids, body, returned }: Call): string {
  const args = [...ids.map((id) => JSON.stringify(id)), ...(body === undefined ? [] : [literal(body)])];
  const call = `runnel.${operationId.split(".").map(camel).join(".")}(${args.join(", ")})`;
  const rest = {
    list: `for await (const item of ${call}) console.log(item);`,
    object: `console.log(await ${call});`,
    bytes: `const response = await ${call};\nconst bytes = await response.bytes();`,
  };
  return `import { Runnel } from "runnel";\n\nconst runnel = new Runnel();\n${rest[returned]}`;
}

function python({ operationId, ids, body, returned }: Call): string {
  const fields = Object.entries((body ?? {}) as object).map(([name, value]) => `${safe(name)}=${pythonLiteral(value)}`);
  const call = `runnel.${operationId.split(".").map(safe).join(".")}(${[...ids.map((id) => JSON.stringify(id)), ...fields].join(", ")})`;
  const rest = {
    list: `for item in ${call}:\n    print(item)`,
    object: `print(${call})`,
    bytes: `content = ${call}`,
  };
  return `from runnel import Runnel\n\nrunnel = Runnel()\n${rest[returned]}`;
}

function returnedBy({ responses }: Operation, { components: { schemas } }: OpenApi): Call["returned"] {
  const content = Object.entries(responses).find(([status, { content }]) => /^2/.test(status) && content)?.[1].content;
  const schema = content?.["application/json"]?.schema;
  if (!schema) return "bytes";
  const name = schema.$ref ? nameOf(schema.$ref) : "";
  return name.endsWith("List") && schemas[name]?.properties?.data?.items?.$ref ? "list" : "object";
}

/** JSON as TypeScript writes it. */
const literal = (value: unknown): string => JSON.stringify(value, null, 2).replace(/^(\s*)"([a-z_]\w*)":/gim, "$1$2:");

function pythonLiteral(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(pythonLiteral).join(", ")}]`;
  if (typeof value === "object")
    return `{${Object.entries(value)
      .map(([name, one]) => `${JSON.stringify(name)}: ${pythonLiteral(one)}`)
      .join(", ")}}`;
  return JSON.stringify(value);
}

/** An id as it looks, by the pattern that it has; else a word that stands for it. */
function exampleOf({ name, schema }: Parameter): string {
  const prefix = /^\^([a-z]+_)\[/.exec(schema.pattern ?? "")?.[1];
  return prefix ? `${prefix}01k6w3v5r8d2f9h1j4m7n0p3qs` : (words[name] ?? "1");
}

const words: Record<string, string> = { name: "WEATHER_KEY", key: "language" };
