// receiver.ts
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";

const key = Buffer.from(process.env.WEBHOOK_SECRET!.replace("whsec_", ""), "base64");

/** Returns the event, or null if runnel did not sign it or it is older than five minutes. */
function verify(headers: IncomingHttpHeaders, body: Buffer) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return null;
  const right = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  for (const signature of String(signatures).split(" ")) {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    if (given.length === right.length && timingSafeEqual(given, right)) return JSON.parse(body.toString());
  }
  return null;
}

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const event = verify(request.headers, Buffer.concat(chunks));
  response.writeHead(event ? 204 : 400).end();
  if (event) console.log(event.type, event.run_id, event.seq);
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1");
