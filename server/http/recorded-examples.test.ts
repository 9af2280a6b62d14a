import { expect, test } from "bun:test";
import { type Recorded, recordExamples } from "../testing/record-examples.ts";
import { testApp } from "../testing/test-app.ts";
import recorded from "./recorded-examples.json" with { type: "json" };

const path = `${import.meta.dir}/recorded-examples.json`;

// RECORD=1 records them again after an API change.
test("the examples of the document equal the server's responses and webhooks", async () => {
  const now = await recordExamples();
  if (process.env.RECORD) await Bun.write(path, `${JSON.stringify(now, null, 2)}\n`);
  else expect(now, "if the API has changed, record them anew: RECORD=1").toEqual(recorded as Recorded);
}, 60_000);

test("every operation with a JSON response has an example, except the document itself", async () => {
  await using server = testApp();
  const answering = Object.values(server.operations).filter(({ responses }) =>
    Object.entries(responses).some(([status, { content }]) => status < "300" && content?.["application/json"]),
  );
  const missing = answering.map(({ id }) => id).filter((id) => !(id in recorded.responses));
  expect(missing, "server/testing/record-examples.ts asks for each of them").toEqual(["openapi.retrieve"]);
});
