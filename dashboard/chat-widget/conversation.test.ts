import { expect, test } from "bun:test";
import { createServer } from "./conversation.ts";

const run = '{"required_action":{"submit_tool_outputs":{"tool_calls":[{"arguments":{"order":2512292042121000001}}]}}}';

test("a person who decides a call sees all digits of its arguments", async () => {
  using http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(run) });
  const server = createServer({
    url: () => http.url.origin,
    token: () => "t",
    renew: async () => false,
    onConnection: () => {},
    signal: () => new AbortController().signal,
  });
  const { required_action } = await server.run("run_1");
  const [call] = required_action!.submit_tool_outputs.tool_calls;
  expect(JSON.stringify(call!.arguments)).toBe('{"order":2512292042121000001}');
});
