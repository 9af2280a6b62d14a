import { hasParts } from "../../lib/json.ts";
import { invalidParams, type Params } from "./protocol.ts";
import type { ProtocolAgent } from "./tools.ts";

type Asked = Pick<ProtocolAgent, "instructions" | "input_schema">;

/** An agent's entry in the list of prompts. */
export const promptOf = (name: string, { name: title, description, ...agentInput }: ProtocolAgent) => ({
  name,
  title,
  description: description ?? `The instructions of the agent ${title}.`,
  arguments: [...argumentsOf(agentInput)].map(([name, argument]) => ({ name, ...argument })),
});

/** Returns the agent's instructions and the input, as its model would get them. Throws for unknown arguments. */
export function promptText({ instructions, input_schema }: Asked, args: unknown): string {
  if (!hasParts(args)) throw invalidParams("arguments: expected an object.");
  const knownArguments = argumentsOf({ input_schema });
  for (const [name, value] of Object.entries(args as Params)) {
    if (!knownArguments.has(name)) throw invalidParams(`arguments.${name}: There is no such argument.`);
    if (typeof value !== "string") throw invalidParams(`arguments.${name}: expected a text.`);
  }
  for (const [name, { required }] of knownArguments)
    if (required && !Object.hasOwn(args, name)) throw invalidParams(`arguments.${name}: expected a text.`);
  const { input = "" } = args as { input?: string };
  const inputText = input_schema ? JSON.stringify(args) : input;
  const text = [instructions, inputText].filter(Boolean).join("\n\n");
  if (text === "") throw invalidParams("arguments.input: expected a text.");
  return text;
}

interface Argument {
  description?: string;
  required: boolean;
}

/** Arguments of a prompt: the fields of the agent's `input_schema`, or one input. */
function argumentsOf({ input_schema }: Pick<Asked, "input_schema">): Map<string, Argument> {
  if (!input_schema) return new Map([["input", { description: "What is asked.", required: false }]]);
  const { properties, required } = input_schema as { properties?: unknown; required?: unknown };
  const requiredNames = Array.isArray(required) ? required : [];
  return new Map(
    Object.entries(properties ?? {}).map(([name, field]: [string, { description?: unknown } | boolean]) => {
      const description = typeof field === "object" ? field.description : undefined;
      return [
        name,
        { ...(typeof description === "string" && { description }), required: requiredNames.includes(name) },
      ];
    }),
  );
}
