import { hostname } from "node:os";
import { covers } from "../lib/certificate.ts";
import { parseAddress } from "../lib/ip-address.ts";

interface Named {
  /** Names under which the operator publishes this server. */
  names: readonly string[];
  /** TLS certificate in PEM; null without TLS. */
  certificate(): string | null;
}

/**
 * Returns a check that a `Host` names this machine. It stops DNS rebinding: a page points its own domain here, and the
 * browser sends that domain. IP addresses pass, because they cannot be rebound and container probes use them.
 */
export function createOwnNames({ names, certificate }: Named): (host: string | null) => boolean {
  const known = new Set([hostname(), ...names].map((name) => name.toLowerCase()));
  return (host) => {
    const name = (host ?? "").replace(/:\d+$/, "").replace(/\.$/, "").toLowerCase();
    if (parseAddress(name.replace(/^\[(.*)\]$/, "$1")) || /^(?:.+\.)?localhost$/.test(name) || known.has(name))
      return true;
    const current = certificate();
    return name !== "" && current !== null && covers(current, [name]);
  };
}
