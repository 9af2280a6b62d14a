// A small webhook receiver: it takes calls that runnel signed, and answers 202. It prints the port that it listens on,
// and then each call on a line. The first argument names the file with the tool's signing secret.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";

const service = createServer(async (request, response) => {
  const body = (await request.toArray()).join("");
  const secret = readFileSync(process.argv[2], "utf8").trim();
  const genuine = isSigned(request.headers, body, secret);
  response.writeHead(genuine ? 202 : 401).end();
  if (genuine) console.log(body);
});
service.listen(0, "127.0.0.1", () => console.log(service.address().port));

/** Whether runnel signed this request, in the last five minutes. */
function isSigned(headers, body, secret) {
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature = "" } = headers;
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) < 300)) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = Buffer.from(`v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`);
  const given = Buffer.from(signature);
  return given.length === expected.length && timingSafeEqual(given, expected);
}
