import { guardrailLimits } from "../limits.ts";
import { createUrlDetector, normalHost } from "../urls.ts";
import { type Complain, checkList, type GuardrailKind } from "./guardrail-kind.ts";

/** Allows only addresses of these hosts. */
export const kind: GuardrailKind = {
  about: "text",
  required: { hosts: checkHosts },
  places: ({ hosts }) => [{ detector: createUrlDetector(hosts as string[]), mark: "[url]" }],
  message: () => "It has an address whose host is not allowed.",
};

function checkHosts(value: unknown, path: string, complain: Complain): void {
  checkList(value, path, complain, guardrailLimits.hosts, (host, at) => {
    const name = host.startsWith("*.") ? host.slice(2) : host;
    if (!/^[^\s*/\\?#@%]{1,253}$/.test(name) || /:\d*$/.test(name) || normalHost(name) === null)
      complain(at, 'Must be the name of a host without a port, such as "example.com" or "*.example.com".');
  });
}
