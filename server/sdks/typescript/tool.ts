import { RunnelError } from "./errors.ts";
import { checkedBy, type JsonSchema, jsonSchemaOf, type StandardSchema } from "./schema.ts";
import type { ToolContext } from "./tool-calls.ts";

/** A function with all that a model must know of it. Made by `tool`; pass it to `runs.run` or `runs.stream`. */
export interface FunctionTool {
  readonly type: "client";
  readonly name: string;
  readonly description?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly parameters: JsonSchema;
  /** Calls the function. Throws if the arguments do not fit its schema. */
  readonly run: (args: unknown, context: ToolContext) => unknown;
}

interface Described {
  /** Letters, digits, `_` and `-`. */
  name: string;
  /** Tells the model what the function does, and when to call it. */
  description?: string | undefined;
}

const noParameters: JsonSchema = { type: "object", properties: {} };

/**
 * Makes a tool of a function, for `tools` of `runs.run` and `runs.stream`. The return value is the output; a thrown error
 * is reported to the model.
 *
 * @param definition `parameters` is a schema of zod (4.2 or later), arktype or another library with Standard Schema,
 * which also types and checks the arguments; or a JSON Schema, with the arguments' type as type argument.
 * @throws {RunnelError} The library of the schema cannot write a JSON Schema, or there is no function.
 */
export function tool<Args>(
  definition: Described & {
    parameters: StandardSchema<Args>;
    run: (args: Args, context: ToolContext) => unknown;
  },
): FunctionTool;
// biome-ignore lint/suspicious/noExplicitAny: the arguments are what the JSON Schema says.
export function tool<Args = any>(
  definition: Described & {
    parameters?: JsonSchema | undefined;
    run: (args: Args, context: ToolContext) => unknown;
  },
): FunctionTool;
export function tool<Args>({
  name,
  description,
  parameters = noParameters,
  run,
}: Described & {
  parameters?: JsonSchema | StandardSchema<Args> | undefined;
  run: (args: Args, context: ToolContext) => unknown;
}): FunctionTool {
  if (typeof run !== "function") throw new RunnelError(`The tool ${name} has no function: pass \`run\`.`);
  return {
    type: "client",
    name,
    description,
    parameters: jsonSchemaOf(parameters, `The tool ${name}`),
    run: async (args, context) => await run((await checkedBy(parameters, args)) as Args, context),
  };
}

/** Returns a tool as a request has it. */
export const definitionOf = ({ run: _, ...definition }: FunctionTool): Omit<FunctionTool, "run"> => definition;

/** True for a tool with its function. */
export const isFunctionTool = (tool: unknown): tool is FunctionTool =>
  typeof tool === "object" &&
  tool !== null &&
  "run" in tool &&
  typeof tool.run === "function" &&
  "name" in tool &&
  typeof tool.name === "string";
