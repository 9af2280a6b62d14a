import { afterAll, expect, test } from "bun:test";
import { randomInt } from "node:crypto";
import { type Canaries, openCanaries } from "../testing/egress-canaries.ts";
import { anyRule } from "../testing/egress-rules.ts";
import { createHostileUrls, type HostileUrl } from "../testing/hostile-urls.ts";
import { createRandom } from "../testing/random.ts";
import { createEgress, EgressError, type EgressRequest } from "./egress.ts";
import { removeProxyEnvironment } from "./proxy.ts";
import type { RequestOutcome } from "./request-outcome.ts";

removeProxyEnvironment();

// `SEED=1234 bun test ./server/lib/egress-fuzz.test.ts` repeats a run; a failure names its seed.
const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
const urls = 10_000;
const rules = 3_000;

const canaries: Canaries = await openCanaries();
/** Targets of redirects by requested path. */
const targets = new Map<string, string>();
let redirects = 0;
const start = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const location = targets.get(new URL(request.url).pathname);
    if (location === undefined) return new Response("arrived");
    redirects++;
    return new Response(null, { status: 307, headers: { location } });
  },
});
afterAll(async () => {
  await start.stop(true);
  await canaries[Symbol.asyncDispose]();
});

// Errors that occur before any connection attempt.
const refusals = ["url_invalid", "scheme_forbidden", "credentials_in_url", "port_forbidden", "address_forbidden"];
const withoutAnswer = [...refusals, "dns_failed"];

type Ending = { code: string; request: RequestOutcome; message: string };

async function endOf(work: Promise<unknown>): Promise<Ending> {
  try {
    await work;
    return { code: "passed", request: "answered", message: "" };
  } catch (error) {
    if (error instanceof EgressError) return error;
    return { code: String(error), request: "answered", message: "" };
  }
}

test(`${urls} URLs are judged by their meaning, and none reaches this machine (seed ${seed})`, async () => {
  const random = createRandom(seed);
  const hostile = createHostileUrls(random, canaries.port);
  const own = `start.test:${start.port}`;
  const resolve = async (host: string) => (host === "start.test" ? ["127.0.0.1"] : hostile.resolve(host));
  const guard = (allow: string[] = [], loopback = false) => createEgress({ allow: [own, ...allow], loopback }, resolve);
  // If the rules contain a network, plain HTTP is judged by address too.
  const guards = [guard(), guard(["10.99.99.99/32", "fd99::/64"])];
  // A URL may name this machine, but a redirect of another server may not.
  const redirected = [...guards, guard([], true)];
  const faults: string[] = [];
  let [opened, refused] = [0, 0];

  for (let index = 0; index < urls; index++) {
    const given = hostile.next();
    const egress = random.pick(guards);
    const complain = (when: string, { code, request, message }: Ending) =>
      faults.push(`#${index} ${JSON.stringify(given)} ${when}: ${code} ${request} ${message}`);

    const checked = await endOf(egress.check(given.url));
    if (checked.code === "passed" ? !given.open : given.open || !isRefusal(given, checked))
      complain("at the check", checked);
    if (given.open) opened++;
    else refused++;
    // URLs that really are public are skipped; all others are requested, or the canaries would prove nothing.
    if (given.open && !given.rebinds) continue;
    const request: EgressRequest = { maxRedirects: 3, timeoutMs: 2_000 };
    const fetched = await endOf(egress.fetch(given.url, request));
    if (fetched.request !== "not_sent" || !isRefusal(given, fetched)) complain("at the request", fetched);
    if (!given.redirectable || random.chance(0.7)) continue;
    const path = `/${index}`;
    targets.set(path, given.url);
    const first = random.chance(0.2) ? `/${index}/more` : path;
    if (first !== path) targets.set(first, path);
    const ended = await endOf(random.pick(redirected).fetch(`http://${own}${first}`, request));
    if (ended.request !== "answered" || !isRefusal(given, ended)) complain("by a redirect", ended);
  }

  expect(faults.slice(0, 5)).toEqual([]);
  // Otherwise the kinds of URLs are out of balance.
  expect(Math.min(opened, refused, redirects)).toBeGreaterThan(urls / 20);
  expect(await canaries.strangers()).toEqual([]);
}, 60_000);

function isRefusal({ byAddress, rebinds, open }: HostileUrl, { code, message }: Ending): boolean {
  if (byAddress || (open && rebinds)) return code === "address_forbidden" && !tells.test(message);
  return withoutAnswer.includes(code) && !tells.test(message);
}

/** Texts that only lookups and secrets contain, and no message may. */
const tells = /10\.0\.0\.5|93\.184\.215\.14|hush|SERVFAIL/;

test(`${rules} rules allow exactly what they state (seed ${seed})`, async () => {
  const random = createRandom(seed ^ 0x5eed);
  const faults: string[] = [];
  let opened = 0;
  for (let index = 0; index < rules; index++) {
    const { allow, url, answers, open } = anyRule(random);
    const guard = createEgress({ allow, loopback: false }, async () => answers);
    const { code } = await endOf(guard.check(url));
    if (code !== (open ? "passed" : "address_forbidden"))
      faults.push(`#${index} ${JSON.stringify({ allow, url, answers, open })}: ${code}`);
    if (open) opened++;
  }
  expect(faults.slice(0, 5)).toEqual([]);
  expect(Math.min(opened, rules - opened)).toBeGreaterThan(rules / 10);
});

test("the canaries notice a connection to every address of this machine", async () => {
  await using others = await openCanaries();
  for (const host of others.hosts) await fetch(`http://${host}:${others.port}/`).catch(() => {});
  expect(await others.strangers()).toHaveLength(others.hosts.length);
});

test.each(["0.0.0.0/0", "::/0", "::ffff:0:0/96", "::ffff:0.0.0.0/96"])("the rule %s is refused", (rule) => {
  expect(() => createEgress({ allow: [rule], loopback: false })).toThrow(/would open every address/);
});
