import { expect, test } from "bun:test";

/** Sends itself short bodies, one after the other, and reads each. */
const program = `
  const { readBody } = await import(${JSON.stringify(new URL("./json-body.ts", import.meta.url).href)});
  const fetched = async (request) => new Response((await readBody(request)).slice());
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: fetched });
  let read = 0;
  for (let index = 0; index < 400; index++)
    read += (await (await fetch(server.url, { method: "POST", body: "{}" })).text()).length;
  console.log(read);
  process.exit(0);
`;

test("short bodies are read without garbage: four hundred cause next to no collections", async () => {
  const child = Bun.spawn([process.execPath, "-e", program], {
    env: { ...process.env, BUN_JSC_logGC: "1" },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [read, log] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  expect(read.trim()).toBe("800");
  const collections = [...log.matchAll(/=> (?:Eden|Full)Collection/g)].length;
  expect(collections).toBeLessThan(5);
});
