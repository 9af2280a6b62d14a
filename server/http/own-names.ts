import { hostname } from "node:os";
import { covers } from "../lib/certificate.ts";
import { parseAddress } from "../lib/ip-address.ts";

interface Named {
  /** By which the operator says that this server is reached. */
  names: readonly string[];
  /** The one that clients are shown, in PEM; null without TLS. */
  certificate(): string | null;
}

/**
 * Whether a `Host` names this machine. By DNS rebinding a page leads a name of its own here, and its browser asks by that
 * name; an address is nobody's to lead anywhere, which is how containers are probed.
 */
export function createOwnNames({ names, certificate }: Named): (host: string | null) => boolean {
  const known = new Set([hostname(), ...names].map((name) => name.toLowerCase()));
  return (host) => {
    const name = (host ?? "").replace(/:\d+$/, "").replace(/\.$/, "").toLowerCase();
    if (parseAddress(name.replace(/^\[(.*)\]$/, "$1")) || /^(?:.+\.)?localhost$/.test(name) || known.has(name))
      return true;
    const shown = certificate();
    return name !== "" && shown !== null && covers(shown, [name]);
  };
}
