import { Type } from "@sinclair/typebox";
import { booleanExpected } from "../domain/error-messages.ts";
import { namedInPaths } from "../domain/fields.ts";
import { limits } from "../domain/limits.ts";
import * as t from "../lib/schema.ts";
import { cachedQuery } from "./cached-query.ts";
import { invalid } from "./errors.ts";
import { pathWith } from "./schemas.ts";

const setOutcomes = ["created", "updated", "unchanged"] as const;

/** Fields of the answer to a request that sets a thing by its name, beside the thing itself. */
export const setResult = {
  outcome: t.about("What the request did, or would do with `dry_run`.", t.oneOf(setOutcomes)),
  changes: t.about("Names of the fields that differ from what was stored; empty for a new thing.", t.list(t.text)),
  dry_run: t.about("True if the request asked only what it would do: nothing was stored.", t.boolean),
};

const name = t.about(
  "The name of the agent or tool. It is created if there is none of this name.",
  Type.String({ minLength: 1, maxLength: limits.name_length, pattern: namedInPaths }),
);

export const namePath = { name };
export const nameParams = pathWith({ name: Type.String() });

export const dryRunQuery = {
  dry_run: t.about(
    "Checks the request and says what it would do, without storing anything.",
    Type.Boolean({ default: false }),
  ),
};

export function isDryRun(url: string): boolean {
  const value = cachedQuery(url).get("dry_run") ?? "false";
  if (value !== "true" && value !== "false") throw invalid("dry_run", booleanExpected);
  return value === "true";
}

/** Lists filter by the exact name. */
export const nameFilter = {
  name: t.about("Only items with exactly this name.", Type.String({ minLength: 1, maxLength: limits.name_length })),
};

/** Thrown within a write to undo it: nothing of a dry run is stored. */
class DryRunOver<Result> extends Error {
  override readonly name = "DryRunOver";
  constructor(readonly result: Result) {
    super("Nothing is stored.");
  }
}

/** Performs a write. With `isDry`, all that it did is undone, and its result is returned all the same. */
export async function writeOrTry<Result>(
  write: (job: () => Result) => Promise<Result>,
  isDry: boolean,
  job: () => Result,
): Promise<Result> {
  if (!isDry) return write(job);
  try {
    return await write(() => {
      throw new DryRunOver(job());
    });
  } catch (error) {
    if (error instanceof DryRunOver) return error.result as Result;
    throw error;
  }
}
