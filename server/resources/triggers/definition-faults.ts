import type { Fault } from "../../domain/errors.ts";
import { anyValueIssue } from "../../domain/variables.ts";
import { fault } from "../../http/errors.ts";
import { parseEventPath } from "./event-path.ts";
import type { VariableTemplates } from "./event-variables.ts";
import type { Definition } from "./row.ts";
import { parseTemplate } from "./template.ts";

const pathExpected = "Must be a place such as `body.issue.title`, `body.items[0]` or `headers.x-github-event`.";

/** Returns the faults of how a trigger makes a run of an event, whatever its agent declares. */
export function definitionFaults({ input, variables, filter, dedupe, thread, user }: Definition): Fault[] {
  const places = Object.entries({ dedupe, thread, user }).flatMap(([name, path]) =>
    path === null || parseEventPath(path) ? [] : [fault(name, pathExpected)],
  );
  const conditions = filter.flatMap(({ path, in: wanted, not_in }, index) => [
    ...(parseEventPath(path) ? [] : [fault(`filter[${index}].path`, pathExpected)]),
    ...((wanted === undefined) === (not_in === undefined)
      ? [fault(`filter[${index}]`, "Give either `in` or `not_in`.")]
      : []),
  ]);
  return [...templateFaults(input ?? "", "input"), ...variableFaults(variables ?? {}), ...places, ...conditions];
}

function templateFaults(template: string, param: string): Fault[] {
  const parsed = parseTemplate(template);
  return "wrong" in parsed ? [fault(param, `\`${parsed.wrong}\` names no value. ${pathExpected}`)] : [];
}

const variableFaults = (variables: VariableTemplates): Fault[] =>
  Object.entries(variables).flatMap(([name, template]) => {
    const param = `variables.${name}`;
    const issue = anyValueIssue(template);
    if (issue !== null) return [fault(param, issue)];
    return typeof template === "string" ? templateFaults(template, param) : [];
  });
