import type { ApiClient } from "../commands/api-client.ts";

const readyAgent = "guide";

const notes = [
  "Oslo has a ferry to the islands in the fjord, which runs the whole year.",
  "The museums of Oslo are closed on Mondays.",
  "A day ticket of Oslo is valid on trams, buses, the underground and the ferries.",
];

/** Time between two words: long enough to end the server in the middle of the answer. */
const delta_ms = 700;

/**
 * Creates an agent with a tool and a memory where there is no agent yet, and returns its name; else that of an agent that
 * is there. Its model is a script: it needs no account. What an interrupted call has created is found by its name.
 */
export async function createReadyAgent(client: ApiClient): Promise<string> {
  const [known] = (await client.get<{ data: { name: string }[] }>("/agents?limit=1")).data;
  if (known) return known.name;
  const memory = await findOrCreate(client, "/memory", { name: `${readyAgent} notes`, kind: "vector" });
  if (memory.isNew) for (const text of notes) await client.post(`/memory/${memory.id}/entries`, { text });
  const tool = await findOrCreate(client, "/tools", {
    name: "get_weather",
    type: "code",
    description: "Returns the weather in a city. Its figures are made up.",
    parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
    source: "({ city }) => ({ city, celsius: 21, sky: 'sunny' })",
  });
  await client.post("/agents", {
    name: readyAgent,
    instructions:
      "Answer questions about a visit to Oslo in one or two sentences. Use your notes and the weather tool.",
    model: "test/script",
    model_settings: {
      script: [
        { tool_calls: [{ name: "get_weather", arguments: { city: "Oslo" } }] },
        { text: "It is 21 degrees and sunny in Oslo, so take the ferry to the islands.", delta_ms },
      ],
    },
    tools: [tool.id],
    memory: { stores: [{ memory_id: memory.id, top_k: 2 }] },
  });
  return readyAgent;
}

async function findOrCreate(client: ApiClient, path: string, body: { name: string; [field: string]: unknown }) {
  for await (const { id, name } of client.all<{ id: string; name: string }>(path))
    if (name === body.name) return { id, isNew: false };
  const { id } = await client.post<{ id: string }>(path, body);
  return { id, isNew: true };
}
