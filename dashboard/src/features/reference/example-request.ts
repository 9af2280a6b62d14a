import type { Environment as Mode } from "../../../../server/core/scope.ts";
import type { ApiRequest } from "../../lib/request-code.ts";
import type { Listed } from "./list-operations.ts";

/** A request that shows the operation: the document's example, with ids that are still to be filled in. */
export function exampleRequest({ method, path, parameters = [], requestBody }: Listed, mode: Mode): ApiRequest {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const pattern = parameters.find((each) => each.in === "path" && each.name === name)?.schema?.pattern;
    return `${/^\^([a-z]+_)\[/.exec(pattern ?? "")?.[1] ?? ""}${name.replace(/^.*_(?=id$)/, "").toUpperCase()}`;
  });
  const given = requestBody?.content["application/json"]?.example;
  if (given === undefined) return { method, path: filled };
  const text = JSON.stringify(given).replaceAll(/"([a-z]+)_[0-9a-hjkmnp-tv-z]{26}"/g, '"$1_ID"');
  return {
    method,
    path: filled,
    body: JSON.parse(mode === "live" ? text.replaceAll('"test/echo"', '"openai/gpt-5"') : text),
  };
}
