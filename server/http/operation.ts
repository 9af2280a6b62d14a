import type { TSchema } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { ErrorCode } from "../core/errors.ts";
import type { ClientScope, Permission } from "../core/scope.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { Principal } from "./principal.ts";
import type { Bucket } from "./rate-limit.ts";

export type Need = Permission | "read_or_run";

/** What a route's own reading of a body came to: what its schema judges, and by what the same request is known again. */
export interface ReadBody {
  bytes: Uint8Array;
  /** Once the request may go on: of a long body this is work. */
  parse(): unknown | Promise<unknown>;
}
export type BodyReader = (request: Request, principal: Principal) => Promise<ReadBody>;

/** By their names, the parameters that a route takes; `name[*]` is any key in brackets. */
export type Query = Record<string, TSchema>;

/** How a request is admitted. */
export interface Access {
  needs: Need;
  /** The scope by which a client token may ask for it; absent: none may. */
  client?: ClientScope;
  /** Whether visitors of a chat page may ask for it too: what it answers tells them nothing of the project. */
  visitors?: true;
  /** Whether viewers of the dashboard may ask for it too, though keys need more than `read`: nothing in it gives access. */
  viewers?: true;
  /** What it is counted in; by itself that follows from the method. */
  bucket?: Bucket;
  /**
   * False: it goes on while the disk is nearly full, when whatever else writes is refused. What ends or answers something
   * that was begun, lets people in and out, or changes and replaces a key, which may have leaked, needs little room and
   * must go on. So does a search, which writes nothing. A DELETE always goes on: it makes room, or takes a right away.
   */
  needsRoom?: false;
  query?: Query;
  /** Reads a body that is not JSON, or larger; what it throws is thrown once the request is admitted. */
  read?: BodyReader;
}

/** All that a route of the API says of itself, beside its body and the parameters of its path. */
export interface Operation extends Access {
  id: string;
  summary: string;
  /** What parameters of the path may be, where the route takes more, to say what is wrong with it. */
  path?: Query;
  /** The body of its 200. */
  returns?: TSchema;
  /** The body of its 201. */
  creates?: TSchema;
  /** Other statuses that it returns, and when; the body is the same, where the status has one. */
  also?: Record<number, string>;
  /** Headers that it reads, beside those that all of its method do. */
  requestHeaders?: readonly RequestHeader[];
  /** Headers of its successes, beside those of every response. */
  responseHeaders?: readonly ResponseHeader[];
  /** The formats of the response, where that is not JSON. */
  media?: readonly string[];
  /** The body in parts, where it is taken so too. */
  parts?: TSchema;
  /** The media type of another body that it takes, which is no JSON. */
  binary?: string;
  /** When the same address returns server-sent events. */
  streams?: string;
  /** A body that it takes, where the one that is made of its schema says little. */
  example?: unknown;
  /** Error codes of its own: beside those that follow from what stands above, and from its method and path. */
  errors?: readonly ErrorCode[];
}

export interface Route {
  method: string;
  path: string;
  hooks: { detail?: { operation?: Partial<Operation>; tags?: string[] }; body?: TSchema; params?: TSchema };
}

/** What is said of a route, as its options keep it. */
export const declared = (operation: Partial<Operation>) => ({ detail: { operation } as DocumentDecoration });

/** What a route says of itself; empty where it says nothing. */
export const declarationOf = ({ hooks }: Route): Partial<Operation> => hooks.detail?.operation ?? {};
