// A small MCP server (Streamable HTTP) with the tools free_slots and book_slot. It prints the port that it listens on.
import { createServer } from "node:http";

const day = { type: "object", properties: { day: { type: "string" } }, required: ["day"] };
const tools = [
  { name: "free_slots", description: "The free hours of a day.", inputSchema: day },
  { name: "book_slot", description: "Books the first free hour of a day.", inputSchema: day },
];

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "calendar", version: "1.0.0" },
  }),
  ping: () => ({}),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: { day } }) => ({
    content: [{ type: "text", text: name === "book_slot" ? `Booked ${day} at 9:00.` : `On ${day}: 9:00 and 14:00.` }],
  }),
};

const server = createServer(async (request, response) => {
  if (request.method !== "POST") {
    response.writeHead(405).end();
    return;
  }
  const { id, method, params } = JSON.parse((await request.toArray()).join(""));
  if (id === undefined) {
    response.writeHead(202).end(); // A notification has no answer.
    return;
  }
  const answer = Object.hasOwn(methods, method)
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `There is no method ${method}.` } };
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
