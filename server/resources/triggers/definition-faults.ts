import type { Fault } from "../../domain/errors.ts";
import { fault } from "../../http/errors.ts";
import { parseEventPath } from "./event-path.ts";
import type { Definition } from "./row.ts";
import { parseTemplate } from "./template.ts";

const pathExpected = "Expected a place such as `body.issue.title`, `body.items[0]` or `headers.x-github-event`.";

/** Returns the faults of how a trigger makes a run of an event. */
export function definitionFaults({ input, filter, dedupe, thread, user }: Definition): Fault[] {
  const parsed = parseTemplate(input ?? "");
  const places = Object.entries({ dedupe, thread, user }).flatMap(([name, path]) =>
    path === null || parseEventPath(path) ? [] : [fault(name, pathExpected)],
  );
  const conditions = filter.flatMap(({ path, in: wanted, not_in }, index) => [
    ...(parseEventPath(path) ? [] : [fault(`filter[${index}].path`, pathExpected)]),
    ...((wanted === undefined) === (not_in === undefined)
      ? [fault(`filter[${index}]`, "Give either `in` or `not_in`.")]
      : []),
  ]);
  return [
    ...("wrong" in parsed ? [fault("input", `\`${parsed.wrong}\` names no value. ${pathExpected}`)] : []),
    ...places,
    ...conditions,
  ];
}
