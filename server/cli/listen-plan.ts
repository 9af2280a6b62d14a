import { type Cidr, isLoopback, parseAddress, parseCidr } from "../lib/ip-address.ts";
import { usageError } from "./exit-code.ts";

/** The listener's part of the flags of `serve`, as they were given. */
export interface ListenFlags {
  host: string;
  port: string;
  domain?: string;
  tlsCert?: string;
  tlsKey?: string;
  trustProxy?: string;
  insecureHttp?: boolean;
}

/** How to listen, once it is known to be safe. */
export interface ListenPlan {
  host: string;
  port: number;
  /** The operator's files, our own certificate, or none: plain HTTP for loopback or for a trusted proxy. */
  tls: { cert: string; key: string } | "own" | null;
  trustProxy: Cidr[];
  insecureHttp: boolean;
  loopback: boolean;
}

/** Decides how to listen; throws a usage error rather than open a door in clear text. */
export function planListener(flags: ListenFlags): ListenPlan {
  if (flags.domain !== undefined)
    throw usageError(
      "--domain (a certificate from Let's Encrypt) is not part of this version. Give --tls-cert and --tls-key, or put a proxy in front and name it by --trust-proxy.",
    );
  const { host } = flags;
  const insecureHttp = flags.insecureHttp ?? false;
  const loopback = isLoopbackHost(host);
  const trustProxy = readNetworks(flags.trustProxy);
  const files = readTlsFiles(flags);
  if (insecureHttp && !loopback)
    throw usageError(
      `--insecure-http serves loopback alone, and ${host} is not: keys would cross the network in clear text.`,
    );
  if (insecureHttp && files) throw usageError("--insecure-http and a certificate exclude each other.");
  const plain = insecureHttp || trustProxy.length > 0;
  return { host, port: readPort(flags.port), tls: files ?? (plain ? null : "own"), trustProxy, insecureHttp, loopback };
}

function isLoopbackHost(host: string): boolean {
  const address = parseAddress(host);
  return address ? isLoopback(address) : host === "localhost";
}

function readPort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw usageError(`--port takes a number from 0 (any free port) to 65535, not "${text}".`);
  return Number(text);
}

function readTlsFiles({ tlsCert, tlsKey }: ListenFlags): { cert: string; key: string } | null {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert === undefined || tlsKey === undefined) throw usageError("--tls-cert and --tls-key belong together.");
  return { cert: tlsCert, key: tlsKey };
}

function readNetworks(text: string | undefined): Cidr[] {
  return splitList(text).map((part) => {
    const network = parseCidr(part.includes("/") ? part : `${part}/${part.includes(":") ? 128 : 32}`);
    if (!network) throw usageError(`--trust-proxy takes addresses and networks such as 10.0.0.0/8, not "${part}".`);
    return network;
  });
}

/** The parts of a list with commas. */
export const splitList = (text: string | undefined): string[] =>
  (text ?? "").split(",").flatMap((part) => part.trim() || []);
