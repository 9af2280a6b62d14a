import { Value } from "@sinclair/typebox/value";
import { newId } from "../../domain/ids.ts";
import { firstFault } from "../../http/errors.ts";
import { CliError, exitCodes } from "../commands/exit-code.ts";
import { defaultsOf, rules, type Thing } from "./kinds.ts";
import { withIds } from "./references.ts";

/** Throws if the server would refuse the fields of a new thing, as far as they tell that by themselves. */
export function checkFields(thing: Thing): void {
  const { schema, faults = () => [] } = rules[thing.kind];
  if (!schema) return;
  const fields = { ...defaultsOf(thing), ...withIds(thing, ({ kind }) => newId(kind, 0)) };
  const [fault] = Value.Check(schema, fields) ? faults(fields) : [firstFault(Value.Errors(schema, fields))];
  if (fault) throw new CliError(fault.message, exitCodes.usage);
}
