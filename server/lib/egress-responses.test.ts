import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { codeOf, rawServer, startEgressServers, text, timeoutAsNull } from "../testing/egress-servers.ts";
import { withEnoughTime } from "../testing/enough-time.ts";
import type { EgressRequest } from "./egress.ts";

const { port, canary, egress, failure } = await startEgressServers();

describe("responses", () => {
  const get = (path: string, request: EgressRequest = {}) =>
    egress().fetch(`https://good.test:${port}${path}`, request);

  test("a long body waits for room before it is read, outside the timeout, and a short one does not", async () => {
    let waits = 0;
    const beforeLong = (ms: number) => async () => {
      waits++;
      await Bun.sleep(ms + 100);
    };
    await get("/", { beforeLong: beforeLong(0) });
    expect(waits).toBe(0);
    const body = await withEnoughTime(500, async (timeoutMs) => {
      const before = waits;
      const answer = await get("/big", { beforeLong: beforeLong(timeoutMs), timeoutMs }).catch(timeoutAsNull);
      if (answer) expect(waits).toBe(before + 1);
      return answer?.body ?? null;
    });
    expect(body.length).toBe(100_000);
    const refused = get("/big", { beforeLong: () => Promise.reject(new Error("gone")) });
    await expect(refused).rejects.toThrow("gone");
  });

  test("a long body is cut at the limit and marked, and one of exactly the limit is complete", async () => {
    const cut = await get("/big", { maxBytes: 1_000 });
    expect([cut.body.length, cut.truncated]).toEqual([1_000, true]);
    const whole = await get("/big", { maxBytes: 100_000 });
    expect([whole.body.length, whole.truncated]).toEqual([100_000, false]);
  });

  test.each(["/gzip", "/deflate", "/br"])("a body that is encoded without request is decoded: %s", async (path) => {
    const { body, headers } = await get(path);
    expect(text(body)).toBe("zipped");
    expect([headers.get("content-encoding"), headers.get("content-length")]).toEqual([null, null]);
  });

  test("a body that inflates endlessly is cut at the limit and never held in memory", async () => {
    const before = process.memoryUsage().rss;
    const { body, truncated } = await get("/bomb", { maxBytes: 10_000 });
    expect([body.length, truncated]).toEqual([10_000, true]);
    expect(process.memoryUsage().rss - before).toBeLessThan(32 << 20);
  });

  test("an empty body is empty in every encoding, and a false encoding is an error", async () => {
    expect((await get("/empty-gzip")).body).toHaveLength(0);
    expect((await get("/gzip", { method: "HEAD" })).body).toHaveLength(0);
    expect(await codeOf(() => get("/lie"))).toBe("response_invalid");
  });

  test("a server that drips its body is dropped at the deadline, and its connection is closed", async () => {
    const closed = Promise.withResolvers<void>();
    let isDripping = false;
    using raw = await rawServer((socket) => {
      socket.once("data", () => {
        isDripping = true;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n");
        const drip = setInterval(() => socket.write("x"), 5);
        socket.on("close", () => {
          clearInterval(drip);
          closed.resolve();
        });
      });
    });
    const policy = { allow: ["good.test"] };
    await withEnoughTime(100, async (timeoutMs) => {
      expect(await failure(`http://good.test:${raw.port}/`, { timeoutMs }, policy)).toBe("timeout");
      return isDripping || null;
    });
    await closed.promise;
  });

  test("a server that never responds is dropped at the deadline", async () => {
    using raw = await rawServer(() => {});
    expect(await failure(`http://good.test:${raw.port}/`, { timeoutMs: 50 }, { allow: ["good.test"] })).toBe("timeout");
  });

  test.each([
    ["plain", "x".repeat(500), ""],
    ["encoded", gzipSync(randomBytes(500)), "content-encoding: gzip\r\n"],
  ])("the connection of a body that was cut is closed: %s", async (_, body, header) => {
    const closed = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.once("data", () => {
        socket.write(`HTTP/1.1 200 OK\r\n${header}content-length: 100000\r\n\r\n`);
        socket.write(body);
      });
    });
    const guard = egress({ allow: ["good.test"] });
    const { truncated } = await guard.fetch(`http://good.test:${raw.port}/`, { maxBytes: 100 });
    expect(truncated).toBe(true);
    await closed.promise;
  });

  test("the connection of a refused, unread response is closed", async () => {
    const closed = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.once("data", () => socket.write("HTTP/1.1 302 Found\r\nlocation: https://[\r\ncontent-length: 9\r\n\r\n"));
    });
    const url = `http://good.test:${raw.port}/`;
    expect(await failure(url, { maxRedirects: 1 }, { allow: ["good.test"] })).toBe("url_invalid");
    await closed.promise;
  });

  test("a caller that aborts gets that error, before and during the request", async () => {
    const arrived = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => socket.once("data", () => arrived.resolve()));
    const url = `http://good.test:${raw.port}/`;
    const giveUp = new AbortController();
    const outcome = failure(url, { signal: giveUp.signal }, { allow: ["good.test"] });
    await arrived.promise;
    giveUp.abort();
    expect(await outcome).toBe("aborted");
    expect(await failure(url, { signal: AbortSignal.abort() }, { allow: ["good.test"] })).toBe("aborted");
    expect(raw.sockets).toHaveLength(1);
  });

  test("a truncated response is an error and not a short body", async () => {
    using raw = await rawServer((socket) =>
      socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc")),
    );
    expect(await failure(`http://good.test:${raw.port}/`, {}, { allow: ["good.test"] })).toBe("connection_lost");
  });
});

describe("streams", () => {
  const policy = { allow: ["good.test"] };
  const drip = (socket: Socket, start: string) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n${start}`);
    const timer = setInterval(() => socket.write("x"), 5);
    socket.on("close", () => clearInterval(timer));
  };

  test("the body streams as it is written, and cancelling closes the connection", async () => {
    const closed = Promise.withResolvers<void>();
    const goOn = Promise.withResolvers<void>();
    using raw = await rawServer((socket) => {
      socket.on("close", () => closed.resolve());
      socket.once("data", async () => {
        socket.write("HTTP/1.1 200 OK\r\nx-answer: 42\r\ncontent-length: 100000\r\n\r\nfirst");
        await goOn.promise;
        socket.write("second");
      });
    });
    const { status, headers, body } = await egress(policy).stream(`http://good.test:${raw.port}/`);
    const reader = body.getReader();
    const next = async () => text((await reader.read()).value!);
    expect([status, headers.get("x-answer"), await next()]).toEqual([200, "42", "first"]);
    goOn.resolve();
    expect(await next()).toBe("second");
    await reader.cancel();
    await closed.promise;
  });

  test("a whole body is decoded and ends", async () => {
    const { body, headers } = await egress().stream(`https://good.test:${port}/gzip`);
    expect([await new Response(body).text(), headers.get("content-encoding")]).toEqual(["zipped", null]);
  });

  test.each([
    ["too long", "/big", { maxBytes: 99_999 }, "response_too_large"],
    ["without end once it is decoded", "/bomb", { maxBytes: 1_000_000 }, "response_too_large"],
    ["not what it claims to be", "/lie", {}, "response_invalid"],
  ])("a body that is %s is an error and not a short one", async (_, path, request, code) => {
    const { body } = await egress().stream(`https://good.test:${port}${path}`, request);
    expect(await codeOf(() => new Response(body).text())).toBe(code);
  });

  test("a body of exactly the limit is complete", async () => {
    const { body } = await egress().stream(`https://good.test:${port}/big`, { maxBytes: 100_000 });
    expect(await new Response(body).text()).toHaveLength(100_000);
  });

  test.each([
    ["the deadline", "timeout", 100, () => {}],
    ["the caller's word", "aborted", 30_000, (abort: AbortController) => abort.abort()],
    ["the server", "connection_lost", 30_000, (_: AbortController, socket: Socket) => socket.destroy()],
  ])("a body that %s ends is an error, and its connection is closed", async (_, code, timeoutMs, act) => {
    const closed = Promise.withResolvers<void>();
    const sockets: Socket[] = [];
    using raw = await rawServer((socket) => {
      sockets.push(socket);
      socket.on("close", () => closed.resolve());
      socket.once("data", () => drip(socket, "start"));
    });
    const abort = new AbortController();
    const ended = await withEnoughTime(timeoutMs, async (timeoutMs) => {
      const request = { timeoutMs, signal: abort.signal };
      const begun = await egress(policy).stream(`http://good.test:${raw.port}/`, request).catch(timeoutAsNull);
      const reader = begun?.body.getReader();
      if (!reader || !(await reader.read().catch(timeoutAsNull))) return null;
      act(abort, sockets.at(-1)!);
      return codeOf(async () => {
        while (!(await reader.read()).done);
      });
    });
    expect(ended).toBe(code);
    await closed.promise;
  });

  test("is checked like any request", async () => {
    expect(await codeOf(() => egress().stream(`https://internal.test:${canary.port}/`))).toBe("address_forbidden");
    expect(await codeOf(() => egress().stream("https://good.test:1/", { headers: { host: "x" } }))).toBe(
      "header_forbidden",
    );
  });
});
