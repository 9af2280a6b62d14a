import { createHmac } from "node:crypto";
import { createServer } from "node:http";
import { Runnel, WebhookVerificationError } from "runnel-sdk";

const runnel = new Runnel();
const secret = `whsec_${Buffer.from("a secret of twenty-four.").toString("base64")}`;

const server = createServer(async (request, response) => {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  try {
    const event = await runnel.webhooks.verify(Buffer.concat(parts), request.headers, secret);
    if (event.type === "run.completed") console.log(event.run_id, event.data.object.output);
    else if (event.type === "file.ready") console.log(event.data.object.filename);
    response.writeHead(204).end();
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    console.log("refused");
    response.writeHead(400).end();
  }
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const address = server.address();
if (address === null || typeof address === "string") throw new Error("It has no port.");

// Two requests, as the server would send them; the second is forged.
const body = JSON.stringify({ type: "run.completed", run_id: "run_1", data: { object: { output: "Hello" } } });
const timestamp = String(Math.floor(Date.now() / 1000));
const signature = createHmac("sha256", Buffer.from(secret.slice(6), "base64"))
  .update(`evt_1.${timestamp}.${body}`)
  .digest("base64");
for (const signed of [`v1,${signature}`, "v1,other"]) {
  const headers = { "webhook-id": "evt_1", "webhook-timestamp": timestamp, "webhook-signature": signed };
  const { status } = await fetch(`http://127.0.0.1:${address.port}`, { method: "POST", body, headers });
  console.log(status);
}
server.close();
