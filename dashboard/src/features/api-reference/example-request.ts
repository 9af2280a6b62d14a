import type { Environment as Mode } from "../../../../server/domain/scope.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import type { ListedOperation } from "./list-operations.ts";

/** Returns an example request: the document's example, with placeholders for ids. */
export function exampleRequest(
  { method, path, parameters = [], requestBody }: ListedOperation,
  mode: Mode,
): ApiRequest {
  const examplePath = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const pattern = parameters.find((each) => each.in === "path" && each.name === name)?.schema?.pattern;
    return `${/^\^([a-z]+_)\[/.exec(pattern ?? "")?.[1] ?? ""}${name.replace(/^.*_(?=id$)/, "").toUpperCase()}`;
  });
  const example = requestBody?.content["application/json"]?.example;
  if (example === undefined) return { method, path: examplePath };
  const text = JSON.stringify(example).replaceAll(/"([a-z]+)_[0-9a-hjkmnp-tv-z]{26}"/g, '"$1_ID"');
  return {
    method,
    path: examplePath,
    body: JSON.parse(mode === "live" ? text.replaceAll('"test/echo"', '"openai/gpt-5"') : text),
  };
}
