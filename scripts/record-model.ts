/**
 * Records one real response of a provider as a fixture for the adapters' tests, byte for byte:
 *
 *   RECORD_MODEL=openai/gpt-5-mini RECORD_CASE=text OPENAI_API_KEY=… bun scripts/record-model.ts "Say hello."
 *
 * `RECORD_MODEL` is any model name; its connection comes from the server's environment variables. `RECORD_CASE` names
 * the file, `server/runtime/models/__fixtures__/<provider>-<case>.chunks.txt`. With `RECORD_TOOL=1` a tool `weather` is
 * offered. Read the file before you commit it: it contains everything that the provider sent.
 */
import { join } from "node:path";
import { connectionFor, connectionsFromEnvironment, openModel, parseModel } from "../server/runtime/models/registry.ts";

const weather = {
  name: "weather",
  description: "Tells the weather of a city.",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};

const name = parseModel(process.env.RECORD_MODEL ?? "");
const connection = name && connectionFor(name, connectionsFromEnvironment(process.env));
const recordedCase = process.env.RECORD_CASE ?? "recorded";
if (!name || !connection || !/^[a-z0-9-]+$/.test(recordedCase)) {
  console.error("Set RECORD_MODEL, RECORD_CASE (a-z, 0-9, -) and the key of the model's provider.");
  process.exit(2);
}

const bodies: Promise<Uint8Array>[] = [];

async function recordingFetch(...[url, init]: Parameters<typeof fetch>): Promise<Response> {
  // The adapter aborts its request once it has read the finish; the recording continues to the last byte.
  const response = await fetch(url, { ...init, signal: null });
  bodies.push(response.clone().bytes());
  return response;
}

const recorder = Object.assign(recordingFetch, { preconnect: fetch.preconnect });
const model = await openModel(connection, name.model, recorder);
const messages = [{ role: "user" as const, content: process.argv[2] ?? "Say hello." }];
const request = { messages, tools: process.env.RECORD_TOOL ? [weather] : [], settings: {} };
for await (const event of model.stream(request, new AbortController().signal)) console.log(JSON.stringify(event));

const file = `${name.provider.replace("_", "-")}-${recordedCase}.chunks.txt`;
const path = join(import.meta.dir, "../server/runtime/models/__fixtures__", file);
await Bun.write(
  path,
  (await Promise.all(bodies)).map((bytes) => new Uint8Array(bytes)),
);
console.log(`wrote ${path}`);
