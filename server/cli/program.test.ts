import { describe, expect, test } from "bun:test";
import { AppError } from "../domain/errors.ts";
import { DataDirInUse } from "../storage/db/data-dir.ts";
import { DatabaseTooNew } from "../storage/db/version.ts";
import { answerCall, readAnswers } from "./commands/answer-calls.ts";
import { CliError, exitCodeOf, explain } from "./commands/exit-code.ts";
import { readConnection } from "./commands/models.ts";
import { tidyEnvironment } from "./commands/option.ts";
import { printable } from "./commands/print.ts";
import { readFrames } from "./commands/read-frames.ts";
import { createRunScreen } from "./commands/run-screen.ts";
import { createProgram } from "./program.ts";
import { allowsLoopback, type ListenFlags, ownAddresses, planListener } from "./serve/listen-plan.ts";

const usage = (work: () => unknown): unknown => {
  try {
    work();
  } catch (error) {
    return exitCodeOf(error);
  }
};

describe("exit codes", () => {
  test("distinguish a directory in use and a newer database from other failures", () => {
    expect(exitCodeOf(new DataDirInUse("/data"))).toBe(75);
    expect(exitCodeOf(new DatabaseTooNew(9, 1))).toBe(78);
    expect(exitCodeOf(new AppError("name_taken", "taken"))).toBe(1);
    expect(exitCodeOf(new Error("bug"))).toBe(1);
  });

  test("only a bug shows its stack", () => {
    expect(explain(new CliError("plain words"))).toBe("plain words");
    expect(explain(new Error("bug"))).toContain("program.test.ts");
  });
});

describe("every flag", () => {
  test("has an environment variable", () => {
    const commands = [createProgram(), ...createProgram().commands.flatMap((each) => [each, ...each.commands])];
    const flags = commands.flatMap(({ options }) => options).filter(({ long }) => long !== "--version");
    expect(flags.length).toBeGreaterThan(20);
    expect(flags.filter(({ envVar }) => !envVar?.startsWith("RUNNEL_")).map(({ long }) => long)).toEqual([]);
  });

  test("stays off if it is a switch and its variable is 0, false or empty", () => {
    const environment: Record<string, string | undefined> = {
      RUNNEL_INSECURE_HTTP: "0",
      RUNNEL_PORT: "",
      RUNNEL_JSON: "1",
    };
    tidyEnvironment(createProgram(), environment);
    expect(environment).toEqual({ RUNNEL_JSON: "1" });
  });
});

describe("the listener", () => {
  const plan = (flags: Partial<ListenFlags>) => planListener({ host: "127.0.0.1", port: "0", ...flags });

  test("has its own certificate by default", () => {
    expect(plan({})).toMatchObject({ tls: "own", insecureHttp: false, loopback: true });
    expect(plan({ host: "0.0.0.0" })).toMatchObject({ tls: "own", loopback: false });
    expect(plan({ tlsCert: "c", tlsKey: "k" }).tls).toEqual({ cert: "c", key: "k" });
  });

  test("listens on all addresses and the usual ports for a domain, and gets its certificate from Let's Encrypt", () => {
    expect(planListener({ domain: "API.example.com., bücher.example" })).toMatchObject({
      host: "0.0.0.0",
      port: 443,
      httpPort: 80,
      loopback: false,
      tls: {
        domains: ["api.example.com", "xn--bcher-kva.example"],
        directory: "https://acme-v02.api.letsencrypt.org/directory",
        email: null,
        cacert: null,
      },
    });
    expect(planListener({})).toMatchObject({ host: "127.0.0.1", port: 8443, httpPort: null });
  });

  test("speaks plain HTTP on loopback when asked, and to a trusted proxy", () => {
    expect(plan({ insecureHttp: true }).tls).toBeNull();
    expect(plan({ host: "::1", insecureHttp: true }).tls).toBeNull();
    expect(plan({ host: "10.0.0.5", trustedProxies: "10.0.0.0/8, 127.0.0.1" })).toMatchObject({
      tls: null,
      insecureHttp: false,
    });
  });

  test("lets tools reach this machine only if it listens on loopback alone and trusts no proxy there", () => {
    expect(allowsLoopback(plan({}))).toBe(true);
    expect(allowsLoopback(plan({ host: "0.0.0.0" }))).toBe(false);
    expect(allowsLoopback(plan({ trustedProxies: "10.0.0.0/8,fd00::/8" }))).toBe(true);
    for (const trustedProxies of [
      "127.0.0.1",
      "10.0.0.1,::1",
      "127.0.0.0/8",
      "126.0.0.0/7",
      "::ffff:127.0.0.1",
      "::/8",
    ])
      expect([trustedProxies, allowsLoopback(plan({ trustedProxies }))]).toEqual([trustedProxies, false]);
  });

  test("knows every address at which it is reachable", () => {
    expect(ownAddresses(plan({}), [8443, null])).toEqual([{ host: "127.0.0.1", port: 8443 }]);
    expect(ownAddresses(plan({ host: "localhost" }), [1, 2], "https://API.example.com")).toEqual([
      { host: "::", port: 1 },
      { host: "::", port: 2 },
      { host: "api.example.com", port: 443, shared: true },
    ]);
    expect(ownAddresses(planListener({ domain: "a.example" }), [443, 80])).toEqual(
      ["0.0.0.0", "a.example"].flatMap((host) => [443, 80].map((port) => ({ host, port }))),
    );
  });

  test.each([
    ["plain HTTP to the network", { host: "0.0.0.0", insecureHttp: true }],
    ["plain HTTP and a certificate", { insecureHttp: true, tlsCert: "c", tlsKey: "k" }],
    ["a certificate without its key", { tlsCert: "c" }],
    ["a proxy that is no address", { trustedProxies: "proxy.internal" }],
    ["a port that is none", { port: "65536" }],
    ["a domain that is many", { domain: "*.example.com" }],
    ["a domain that is an address", { domain: "10.0.0.1" }],
    ["a domain that is a word", { domain: "localhost" }],
    ["a domain with a path", { domain: "example.com/v1" }],
    ["no domain", { domain: "," }],
    ["a domain and a certificate", { domain: "example.com", tlsCert: "c", tlsKey: "k" }],
    ["a domain in plain HTTP", { domain: "example.com", host: "127.0.0.1", insecureHttp: true }],
    ["an authority in plain HTTP", { domain: "example.com", acmeDirectory: "http://127.0.0.1/dir" }],
    ["an authority for no domain", { acmeEmail: "ops@example.com" }],
    ["a port to refuse plain HTTP where nothing else is spoken", { insecureHttp: true, httpPort: "0" }],
  ])("refuses %s with a usage error", (_, flags) => {
    expect(usage(() => plan(flags))).toBe(2);
  });
});

describe("models add", () => {
  test("takes the provider from the name; any other name is a compatible server", () => {
    expect(readConnection("openai", { apiKey: "sk" })).toMatchObject({ provider: "openai", api_key: "sk" });
    expect(readConnection("local", { baseUrl: "http://127.0.0.1:1/v1" })).toMatchObject({
      provider: "openai_compatible",
      api_key: null,
    });
    const given = { baseUrl: "http://127.0.0.1:1/v1", maxConcurrent: "4", idleTimeoutMs: "2000" };
    expect(readConnection("local", given)).toMatchObject({ max_concurrent: 4, idle_timeout_ms: 2000 });
  });

  test.each([
    ["mine", { provider: "openai", apiKey: "sk" }],
    ["openai", {}],
    ["local", {}],
    ["Local", { baseUrl: "http://127.0.0.1/v1" }],
    ["local", { baseUrl: "file:///etc/passwd" }],
    ["local", { baseUrl: "http://user:pass@host/v1" }],
    ["local", { baseUrl: "http://127.0.0.1/v1", maxConcurrent: "many" }],
    ["local", { baseUrl: "http://127.0.0.1/v1", maxConcurrent: "0" }],
    ["local", { baseUrl: "http://127.0.0.1/v1", idleTimeoutMs: "soon" }],
    ["local", { baseUrl: "http://127.0.0.1/v1", idleTimeoutMs: "999" }],
  ])("refuses %s with %p", (name, given) => {
    expect(usage(() => readConnection(name, given))).toBe(2);
  });
});

describe("prepared answers to tool calls", () => {
  const { signal } = new AbortController();
  const call = { tool_call_id: "call_1", name: "weather", arguments: {} };

  test("are found by the id of the call or the name of the tool; text that is not JSON is a string", async () => {
    const answers = readAnswers(['weather={"c":21}', "call_2=a=b"], ["weather=approve"]);
    expect(await answerCall({ ...call, needs: "output" }, answers, signal)).toEqual({
      tool_call_id: "call_1",
      output: { c: 21 },
    });
    expect(await answerCall({ ...call, tool_call_id: "call_2", needs: "output" }, answers, signal)).toMatchObject({
      output: "a=b",
    });
    expect(await answerCall({ ...call, needs: "approval" }, answers, signal)).toMatchObject({ decision: "approve" });
  });

  test("are a usage error if they cannot be read", () => {
    expect(usage(() => readAnswers(["weather"]))).toBe(2);
    expect(usage(() => readAnswers([], ["weather=maybe"]))).toBe(2);
  });
});

describe("the stream's reader", () => {
  const text =
    'retry: 2000\n\nevent: token\nid: 1.2\ndata: {"delta":"é"}\n\n: ping\n\nevent: run.completed\nid: 3\ndata: {}\n\nevent: half';

  test("reads the same events wherever the bytes are split", async () => {
    const bytes = new TextEncoder().encode(text);
    for (let size = 1; size < 20; size++) {
      const body = new ReadableStream<Uint8Array>({
        start(controller) {
          for (let at = 0; at < bytes.length; at += size) controller.enqueue(bytes.slice(at, at + size));
          controller.close();
        },
      });
      expect(await Array.fromAsync(readFrames(body))).toEqual([
        { id: "1.2", event: "token", data: { delta: "é" } },
        { id: "3", event: "run.completed", data: {} },
      ]);
    }
  });
});

describe("the screen", () => {
  test("prints only the answer on standard output, and each note on a separate line", () => {
    const [out, err]: string[][] = [[], []];
    const screen = createRunScreen({ json: false, out: (text) => out!.push(text), err: (text) => err!.push(text) });
    screen.show({ id: "", event: "token", data: { kind: "reasoning", delta: "hm" } });
    screen.show({ id: "", event: "token", data: { kind: "output", delta: "Hel" } });
    screen.show({ id: "", event: "token", data: { kind: "output", delta: "lo" } });
    screen.show({ id: "", event: "tool.requested", data: { tool: "weather", args: { city: "Oslo" } } });
    screen.end();
    expect([out!.join(""), err!.join("")]).toEqual(["Hello\n", '→ weather {"city":"Oslo"}\n']);
  });

  test("shows no control characters of a model or a tool", () => {
    expect(printable("a\u001b[2Jb\u0007\r\u009b\n\tc")).toBe("a\ufffd[2Jb\ufffd\ufffd\ufffd\n\tc");
  });
});
