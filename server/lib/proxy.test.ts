import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { freePort } from "../testing/free-port.ts";
import { proxyFor, proxySecrets, readProxy, readRule, removeProxyEnvironment } from "./proxy.ts";

test("every proxy variable is removed in both cases, and no other variable", () => {
  const environment = Object.fromEntries(
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [
      [name, "http://127.0.0.1:9"],
      [name.toLowerCase(), "http://127.0.0.1:9"],
    ]),
  );
  const full = { ...environment, PATH: "/bin", NO_PROXY: "a.example" };
  removeProxyEnvironment(full);
  expect(full as Record<string, string>).toEqual({ PATH: "/bin", NO_PROXY: "a.example" });
});

// Both, because a worker gets the environment of the process start: cleaning the main thread alone leaves it exposed.
test("a process started behind a proxy reaches hosts directly, in the main thread and in a worker", async () => {
  using proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("proxy") });
  using target = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("target") });
  const script = `
    const ask = async () => (await fetch(${JSON.stringify(target.url.href)})).text();
    const before = await ask();
    const { removeProxyEnvironment } = await import(${JSON.stringify(import.meta.resolve("./proxy.ts"))});
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

describe("the operator's proxy", () => {
  const RUNNEL_PROXY = "http://user:pass%20word@proxy.example:3128";
  const isProxied = (address: string, NO_PROXY = "", more: Record<string, string> = {}): boolean =>
    proxyFor(new URL(address), undefined, readRule({ RUNNEL_PROXY, NO_PROXY, ...more })).proxy !== false;

  test("is null unless configured, whatever else the environment has", () => {
    const others = { HTTP_PROXY: RUNNEL_PROXY, https_proxy: RUNNEL_PROXY, ALL_PROXY: RUNNEL_PROXY };
    for (const RUNNEL_PROXY of [undefined, "", " "])
      expect(proxyFor(new URL("https://api.example/"), undefined, readRule({ ...others, RUNNEL_PROXY }))).toEqual({
        proxy: false,
      });
    expect(proxyFor(new URL("https://api.example/"), undefined, readRule({ RUNNEL_PROXY }))).toEqual({
      proxy: `${RUNNEL_PROXY}/`,
    });
  });

  test("gets no request to this machine, however its address is written", () => {
    for (const host of ["127.0.0.1", "127.1", "0x7f.1", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "[::]"])
      expect([host, isProxied(`http://${host}:8443/`)]).toEqual([host, false]);
    for (const host of ["localhost", "LOCALHOST", "localhost.", "a.localhost", "localhost.localdomain"])
      expect([host, isProxied(`https://${host}/`)]).toEqual([host, false]);
    for (const host of ["10.0.0.1", "mylocalhost", "localhost.example", "[2001:db8::1]"])
      expect([host, isProxied(`https://${host}/`)]).toEqual([host, true]);
    // A resolved name of this machine.
    const way = proxyFor(new URL("https://crm.example/"), "127.0.0.1", readRule({ RUNNEL_PROXY }));
    expect(way).toEqual({ proxy: false });
  });

  test.each([
    ["*", ["https://a.example/"], []],
    ["example.com", ["https://example.com/", "https://api.EXAMPLE.com:8443/"], ["https://badexample.com/"]],
    [".example.com", ["https://api.example.com/"], ["https://example.org/"]],
    ["*.example.com", ["https://api.example.com/"], ["https://example.org/"]],
    ["a.example:8080, b.example", ["http://a.example:8080/", "http://b.example/"], ["http://a.example/"]],
    ["a.example:443", ["https://a.example/"], ["http://a.example/"]],
    [
      "10.0.0.0/8 192.168.1.1",
      ["http://10.9.8.7/", "https://192.168.1.1/"],
      ["http://11.0.0.1/", "http://192.168.1.2/"],
    ],
    [
      "2001:db8::/32,[2001:db9::1]:443",
      ["https://[2001:db8::7]/", "https://[2001:db9::1]/"],
      ["http://[2001:db9::1]/"],
    ],
    [" , ", [], ["https://a.example/"]],
  ])("leaves out what NO_PROXY names: %s", (named, direct, proxied) => {
    expect(direct.filter((address) => isProxied(address, named))).toEqual([]);
    expect(proxied.filter((address) => !isProxied(address, named))).toEqual([]);
    // The lower-case name wins, even if it is empty.
    for (const address of direct) expect(isProxied(address, named, { no_proxy: "" })).toBe(true);
  });

  test("is refused if invalid, without revealing its password", () => {
    const wrong = [
      "proxy.example",
      "proxy.example:3128",
      "socks5://u:hush@h:1",
      "ftp://u:hush@h",
      "http://u:hush@h/path",
    ];
    for (const text of wrong) {
      expect(() => readProxy(text)).toThrow("--proxy takes the address of an HTTP proxy");
      expect(() => readProxy(text)).not.toThrow("hush");
    }
    expect(proxySecrets(readProxy(RUNNEL_PROXY))).toEqual(["pass%20word", "pass word"]);
    expect(proxySecrets(null)).toEqual([]);
  });

  test("gets the address that the guard checked, not the name, and nothing that the guard refuses", async () => {
    const asked: string[] = [];
    const proxy = createServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", (bytes) => {
        asked.push(bytes.toString().split("\r\n")[0]!);
        socket.end("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    const { port } = proxy.address() as { port: number };
    const closed = freePort();
    const program = `
      const { applyProxy } = await import(${JSON.stringify(import.meta.resolve("./proxy.ts"))});
      const { createEgress } = await import(${JSON.stringify(import.meta.resolve("./egress.ts"))});
      applyProxy();
      const addresses = { "crm.example": "10.1.2.3", "own.example": "127.0.0.1", "meta.example": "169.254.169.254" };
      const egress = createEgress({ allow: ["10.0.0.0/8", "127.0.0.0/8"], loopback: false }, async (host) => [addresses[host]]);
      const said = {};
      for (const url of ["http://crm.example/a", "https://crm.example/a", "https://own.example:${closed}/", "https://meta.example/"])
        said[url] = await egress.fetch(url).then(({ status }) => status, ({ code, request }) => code + " " + request);
      console.log(JSON.stringify(said));
      process.exit(0);`;
    const child = Bun.spawn([process.execPath, "-e", program], {
      env: {
        ...process.env,
        RUNNEL_PROXY: `http://127.0.0.1:${port}`,
        NO_PROXY: "x.example",
        HTTP_PROXY: "http://127.0.0.1:1",
      },
      stdout: "pipe",
      stderr: "inherit",
    });
    const said = await new Response(child.stdout).json();
    proxy.close();
    expect(said).toEqual({
      "http://crm.example/a": 503,
      "https://crm.example/a": "connect_failed not_sent",
      [`https://own.example:${closed}/`]: "connect_failed not_sent",
      "https://meta.example/": "address_forbidden not_sent",
    });
    expect(asked).toEqual(["GET http://10.1.2.3/a HTTP/1.1", "CONNECT 10.1.2.3:443 HTTP/1.1"]);
  });
});
