import { expect, test } from "bun:test";
import { removeProxyEnvironment } from "./proxy-environment.ts";

test("every proxy variable is forgotten in both cases, and no other", () => {
  const environment = Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [
      [name, "http://127.0.0.1:9"],
      [name.toLowerCase(), "http://127.0.0.1:9"],
    ]),
  );
  const full = { ...environment, PATH: "/bin" };
  removeProxyEnvironment(full);
  expect(full as Record<string, string>).toEqual({ PATH: "/bin" });
});

// Both, because a worker gets the environment of the process start: cleaning the main thread alone leaves it exposed.
test("a process started behind a proxy reaches hosts directly, in the main thread and in a worker", async () => {
  using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("proxy") });
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("target") });
  const script = `
    const ask = async () => (await fetch(${JSON.stringify(target.url.href)})).text();
    const before = await ask();
    const { removeProxyEnvironment } = await import(${JSON.stringify(import.meta.resolve("./proxy-environment.ts"))});
    removeProxyEnvironment();
    return [before, await ask()];`;
  const program = `
    const main = await (async () => {${script}})();
    const source = "postMessage(await (async () => {" + ${JSON.stringify(script)} + "})())";
    const worker = new Worker(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    worker.onmessage = ({ data }) => { console.log(JSON.stringify({ main, worker: data })); process.exit(0); };
    worker.onerror = ({ message }) => { console.error(message); process.exit(1); };`;
  const child = Bun.spawn([process.execPath, "-e", program], {
    env: { ...process.env, NO_PROXY: "", no_proxy: "", HTTP_PROXY: proxy.url.href, http_proxy: proxy.url.href },
    stdout: "pipe",
    stderr: "inherit",
  });
  expect(await new Response(child.stdout).json()).toEqual({
    main: ["proxy", "target"],
    worker: ["proxy", "target"],
  });
});
