// A small MCP server (Streamable HTTP) with resources, a prompt, a tool that reports progress and one that asks the
// user. It prints the port that it listens on.
import { createServer } from "node:http";

const inputSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const policy = "Trips of up to 500 euros need no approval.";
const question = {
  message: "In which class do you travel?",
  requestedSchema: {
    type: "object",
    properties: { class: { type: "string", title: "Class", enum: ["first", "second"], default: "second" } },
    required: ["class"],
  },
};

const text = (text) => ({ content: [{ type: "text", text }] });

const tools = {
  async search({ city }, { notify, progressToken }) {
    for (const [index, station] of ["trains", "buses", "flights"].entries())
      notify("notifications/progress", {
        progressToken,
        progress: index + 1,
        total: 3,
        message: `Asked for ${station}`,
      });
    return text(`To ${city}: one train, at 9:00.`);
  },
  async book({ city }, { ask }) {
    const { action, content } = await ask("elicitation/create", question);
    return text(action === "accept" ? `Booked ${city} in class ${content.class}.` : `Not booked: ${action}.`);
  },
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: "travel", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({
    tools: [
      { name: "search", description: "Searches for trips to a city.", inputSchema },
      { name: "book", description: "Books the trip to a city.", inputSchema },
    ],
  }),
  "tools/call": ({ name, arguments: args, _meta }, exchange) =>
    tools[name](args, { ...exchange, progressToken: _meta?.progressToken }),
  "resources/list": () => ({ resources: [{ uri: "travel://policy", name: "policy", description: "Who pays what." }] }),
  "resources/templates/list": () => ({ resourceTemplates: [] }),
  "resources/read": ({ uri }) => ({ contents: [{ uri, mimeType: "text/plain", text: policy }] }),
  "prompts/list": () => ({
    prompts: [{ name: "report", description: "How to write a report.", arguments: [{ name: "city", required: true }] }],
  }),
  "prompts/get": ({ arguments: { city } }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Write three sentences about ${city}.` } }],
  }),
};

const answers = new Map(); // Questions that are open, by id.
let count = 0;

const server = createServer(async (request, response) => {
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  const { id, method, params, result } = JSON.parse((await request.toArray()).join(""));
  if (method === undefined) answers.get(id)?.(result); // The answer to a question of ours.
  if (id === undefined || method === undefined) {
    response.writeHead(202).end();
    return;
  }
  response.setHeader("content-type", "text/event-stream");
  const send = (message) => response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
  const exchange = {
    notify: (method, params) => send({ method, params }),
    ask(method, params) {
      const id = `question-${++count}`;
      send({ id, method, params });
      return new Promise((resolve) => answers.set(id, resolve)).finally(() => answers.delete(id));
    },
  };
  send(
    Object.hasOwn(methods, method)
      ? { id, result: await methods[method](params, exchange) }
      : { id, error: { code: -32601, message: `There is no method ${method}.` } },
  );
  response.end();
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
