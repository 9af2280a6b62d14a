import type { Json, Runnel } from "../../e2e/harness.ts";

/** Ids of the items that show models, their connections and their failures. */
export interface ModelIds {
  /** An agent with several models and every setting of them. */
  several: string;
  /** Its run: the first model was away, and the second one's server refused a field. */
  moved: string;
  /** An agent with tools of the model's provider. */
  searching: string;
  /** An agent that reads pictures. */
  viewer: string;
}

const long = "northern-warehouse-reconciliation-gateway";
const vendors = ["aurora", "borealis", "cassiopeia-research-institute-of-northern-languages", "delta"];
const catalogue = Array.from({ length: 420 }, (_, index) => ({
  id: `${vendors[index % vendors.length]}/model-${String(index).padStart(3, "0")}-instruct`,
  context_length: 8192 * (1 + (index % 16)),
  pricing: { prompt: "0.0000005", completion: "0.0000015" },
}));

/** Starts a model server that refuses parallel tool calls and reasoning, and caches most of a prompt. */
function startModels(list: () => Response): string {
  const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (request.method === "GET") return list();
      const body = (await request.json()) as Json;
      for (const field of ["parallel_tool_calls", "reasoning_effort"])
        if (field in body)
          return Response.json({ error: { message: `${field} is not supported by this model` } }, { status: 400 });
      const usage = { prompt_tokens: 12_345, completion_tokens: 67, prompt_tokens_details: { cached_tokens: 11_900 } };
      const text = body.response_format ? '{"capital":"Oslo"}' : "Order 4711 left **Frankfurt** this morning.";
      const call = { index: 0, id: "c", type: "function", function: { name: "weather", arguments: "{}" } };
      const delta = body.tools && !body.stream_options ? { tool_calls: [call] } : { content: text };
      const chunks = [
        { choices: [{ index: 0, delta, finish_reason: null }] },
        { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
        { choices: [], usage },
      ];
      return new Response(`${chunks.map(event).join("")}data: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  server.unref();
  return `http://127.0.0.1:${server.port}/v1`;
}

/** Adds connections with models, with a list that fails, and without a server; and agents that use them. */
export async function seedModels(server: Runnel): Promise<ModelIds> {
  const add = async (name: string, url: string, ...more: string[]) => {
    const { code, stderr } = await server.command(
      "models",
      "add",
      name,
      "--base-url",
      url,
      "--api-key",
      "sk-x",
      ...more,
    );
    if (code !== 0) throw new Error(stderr);
  };
  const make = async (path: string, body: Json): Promise<Json> => {
    const answer = await server.post(path, body);
    if (answer.status >= 300) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const listed = startModels(() => Response.json({ object: "list", data: catalogue }));
  const credit = "Your credit balance is too low to read the list of models. Add credit in the console of the gateway.";
  const unlisted = startModels(() => Response.json({ error: { message: credit } }, { status: 402 }));
  await add("gpu", listed, "--max-concurrent", "4");
  await add(long, unlisted);
  await add("away", "http://127.0.0.1:9/v1");
  await add("anthropic", listed);

  const models = ["openai_compatible/away/qwen-3", `openai_compatible/gpu/${catalogue[2]!.id}`, "test/echo"];
  const several = await make("/v1/agents", {
    name: "Order desk with three models",
    instructions: "Be brief.",
    models,
    failover_on: ["outage", "rate_limit", "content_filter"],
    model_settings: { parallel_tool_calls: false, reasoning_effort: "low" },
    tools: [(await make("/v1/tools", { name: "track_parcel", type: "client", description: "Tracks a parcel." })).id],
  });
  const moved = await make("/v1/runs?wait=60", { agent_id: several.id, input: "Where is order 4711?" });
  const searching = await make("/v1/agents", {
    name: "Market watcher",
    instructions: "Search the web.",
    model: "anthropic/claude-sonnet-4-5",
    provider_tools: [{ type: "web_search", max_uses: 5 }],
  });
  const viewer = await make("/v1/agents", {
    name: "Damage desk",
    instructions: "Look at the picture.",
    model: "test/script",
    model_settings: { script: [{ text: "The **teal mug** has a crack below its handle." }] },
  });
  return { several: several.id, moved: moved.id, searching: searching.id, viewer: viewer.id };
}
