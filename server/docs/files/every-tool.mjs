// every-tool.mjs – NODE_EXTRA_CA_CERTS=runnel-data/tls/cert.pem MCP_URL=… node every-tool.mjs
import { createServer } from "node:http";

const { RUNNEL_URL, RUNNEL_API_KEY, MCP_URL } = process.env; // Any MCP server with a tool `add`.
const headers = { authorization: `Bearer ${RUNNEL_API_KEY}` };

async function api(method, path, body) {
  const json = { ...headers, "content-type": "application/json" };
  const request = body instanceof FormData ? { headers, body } : { headers: json, body: body && JSON.stringify(body) };
  const response = await fetch(`${RUNNEL_URL}/v1${path}`, { method, ...request });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer;
}

// The services of the application. /book is a webhook: it says 202, does its work, and then sends the result.
const services = createServer(async (request, response) => {
  const text = (await request.toArray()).join("");
  if (request.url !== "/book")
    return response.end(JSON.stringify(request.url === "/pay" ? { paid: true } : { eur: 0.9 }));
  response.writeHead(202).end();
  const { callback_url, arguments: args } = JSON.parse(text);
  const result = { output: { booked: args.day } };
  await fetch(callback_url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(result),
  });
});
await new Promise((listening) => services.listen(0, "127.0.0.1", listening));
const at = `http://127.0.0.1:${services.address().port}`;

const upload = new FormData();
upload.set("purpose", "code_interpreter");
upload.set("file", new File(["day,amount\nmon,10\ntue,32\n"], "sales.csv"));
const sales = await api("POST", "/files", upload);

const say = (script) => ({ model: "test/script", model_settings: { script } });
const writer = await api("POST", "/agents", {
  name: "Writer",
  instructions: "Write.",
  ...say([{ text: "Sales are up." }]),
});

const source = `
import csv
def main(args):
    rows = list(csv.DictReader(open("/input/sales.csv")))
    total = sum(float(row["amount"]) for row in rows)
    with open("/output/report.md", "w") as report:
        report.write(f"# Sales\\n{len(rows)} days, {total:.2f} USD\\n")
    return {"total": total}
`;
const object = (properties) => ({ type: "object", properties });
const tools = await Promise.all(
  [
    { name: "analyse", type: "code", language: "python", source, files: [sales.id] },
    { name: "rate", type: "http", url: `${at}/rate`, method: "GET" },
    { name: "calc", type: "mcp", server_url: MCP_URL, allowed_tools: ["add"] },
    {
      name: "pay",
      type: "http",
      url: `${at}/pay`,
      approval: "always",
      parameters: object({ usd: { type: "number" } }),
    },
    { name: "book", type: "webhook", url: `${at}/book`, parameters: object({ day: { type: "string" } }) },
    { name: "write", type: "agent", agent_id: writer.id },
    { name: "greet", type: "client", parameters: object({ name: { type: "string" } }) },
  ].map((tool) => api("POST", "/tools", tool)),
);

const call = (name, args = {}) => ({ name, arguments: args });
const clerk = await api("POST", "/agents", {
  name: "Clerk",
  instructions: "Use every tool.",
  ...say([
    { text: "Counting. ", tool_calls: [call("analyse"), call("rate"), call("calc_add", { a: 10, b: 32 })] },
    { text: "Paying. ", tool_calls: [call("pay", { usd: 42 })] },
    {
      text: "Arranging. ",
      tool_calls: [
        call("book", { day: "fri" }),
        call("write", { input: "About sales" }),
        call("greet", { name: "Ada" }),
      ],
    },
    { text: "All done." },
  ]),
  tools: tools.map(({ id }) => id),
  budget: { max_tool_calls: 7, max_total_tokens: 50_000, max_wall_ms: 120_000 },
});

let run = await api("POST", "/runs?wait=60", { agent_id: clerk.id, input: "Close the week." });
for (; run.status !== "completed"; run = await api("GET", `/runs/${run.id}`)) {
  if (run.status === "failed") throw new Error(run.error.message);
  const waiting = run.required_action?.submit_tool_outputs.tool_calls ?? [];
  const answers = waiting.flatMap(({ tool_call_id, name, needs, arguments: args }) => {
    if (needs === "approval") return { tool_call_id, decision: "approve" };
    return name === "greet" ? { tool_call_id, output: `Hello ${args.name}` } : []; // The webhook answers for itself.
  });
  if (answers.length > 0) await api("POST", `/runs/${run.id}/submit_tool_outputs`, { tool_outputs: answers });
  else await new Promise((resolve) => setTimeout(resolve, 100));
}

for (const { type, name, output } of run.tool_calls) console.log(type, name, JSON.stringify(output));
const [file] = run.tool_calls[0].files;
console.log(await (await fetch(`${RUNNEL_URL}/v1/files/${file.id}/content`, { headers })).text());
services.close();
