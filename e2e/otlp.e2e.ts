import { expect, test } from "bun:test";
import { attributesOf, otlpReceiver, spansIn } from "../server/testing/otlp-receiver.ts";
import { createScripted, runToEnd } from "./fixtures.ts";
import { runCommand, startRunnel } from "./harness.ts";

// Traces exported to a collector by the executable.

const script = [{ tool_calls: [{ name: "look", arguments: { city: "Paris" } }] }, { text: "Dry." }];
const names = ["invoke_agent Clerk", "chat script", "execute_tool look", "chat script"];
const runOf = (span: Parameters<typeof attributesOf>[0]) => attributesOf(span)["runnel.run.id"];

test("a collector gets the trace of a run by itself, with its key and without message contents", async () => {
  using collector = otlpReceiver();
  const environment = {
    RUNNEL_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20canary-key",
    OTEL_SERVICE_NAME: "clerks",
  };
  await using server = await startRunnel({ environment });
  const { id } = await runToEnd(server, await createScripted(server, script));
  const { headers, spans, resource } = (await collector.requests(1))[0]!;
  expect(headers.authorization).toBe("Bearer canary-key");
  expect(resource).toMatchObject({ "service.name": "clerks" });
  expect(spans.map(({ name }) => name)).toEqual(names);
  expect(spans.map(runOf)).toEqual(names.map(() => id));
  expect(JSON.stringify(spans)).not.toMatch(/Paris|Dry|weather/);
  const exported = await server.get(`/v1/traces/${id}?format=otlp&content=false`);
  expect(spansIn(exported.body)).toEqual(spans);
  expect(server.log()).not.toContain("canary");
});

test("message contents are sent by flag, and a stop flushes waiting traces", async () => {
  using collector = otlpReceiver();
  await using server = await startRunnel({ flags: ["--otlp-endpoint", collector.url, "--otlp-capture-content"] });
  const agent = await createScripted(server, script);
  const runs = await Promise.all([1, 2, 3, 4].map(() => runToEnd(server, agent)));
  await server.stop();
  const spans = (await collector.requests(1)).flatMap((request) => request.spans);
  expect([...new Set(spans.map(runOf))].toSorted()).toEqual(runs.map(({ id }) => id).toSorted());
  expect(JSON.stringify(spans)).toMatch(/Paris.*Dry/);
});

test("a collector that hangs delays neither runs nor the shutdown", async () => {
  using collector = otlpReceiver(Array(9).fill(() => new Promise<Response>(() => {})));
  await using server = await startRunnel({ environment: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } });
  const agent = await createScripted(server, script);
  await runToEnd(server, agent);
  await collector.requests(1);
  for (let count = 0; count < 3; count++) expect((await runToEnd(server, agent)).status).toBe("completed");
  await server.stop();
  expect(server.log()).toContain("traces could not be sent to the collector");
});

test("an invalid address stops the start with the code for wrong usage", async () => {
  const { code, stderr } = await runCommand(["serve", "--data-dir", "never-made", "--otlp-endpoint", "collector:4318"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("--otlp-endpoint takes an address")]);
});
