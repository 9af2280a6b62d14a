// A small HTTP service: GET /forecast/<city>?days=<n>. It prints the port that it listens on.
import { createServer } from "node:http";

const service = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url, "http://localhost");
  const city = decodeURIComponent(pathname.split("/").at(-1));
  response.setHeader("content-type", "application/json");
  if (request.headers.authorization !== "Bearer forecast-key-1") {
    response.writeHead(401).end(JSON.stringify({ error: "Unknown key." }));
    return;
  }
  response.end(JSON.stringify({ city, days: Number(searchParams.get("days")), sky: "rain" }));
});
service.listen(0, "127.0.0.1", () => console.log(service.address().port));
