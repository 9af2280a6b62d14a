import type { TSchema } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { ErrorCode } from "../domain/errors.ts";
import type { ClientScope, Permission } from "../domain/scope.ts";
import type { RequestHeader, ResponseHeader } from "./headers.ts";
import type { Principal } from "./principal.ts";
import type { Bucket } from "./rate-limit.ts";

export type RequiredPermission = Permission | "read_or_run";

/** Result of a route's own body reader. A repeated request is recognized by `bytes`; the schema checks the value. */
export interface ReadBody {
  bytes: Uint8Array;
  /** Called once the request was admitted, because parsing a long body is expensive. */
  parse(): unknown | Promise<unknown>;
}
export type BodyReader = (request: Request, principal: Principal) => Promise<ReadBody>;

/** Query parameters of a route by name; `name[*]` is any key in brackets. */
export type Query = Record<string, TSchema>;

/** Access rules of a route. */
export interface Access {
  needs: RequiredPermission;
  /** Scope that a client token needs; absent: no client token is accepted. */
  client?: ClientScope;
  /** True if chat page visitors may call it: the response reveals nothing about the project. */
  visitors?: true;
  /** True if dashboard viewers may call it although keys need more than `read`: the response grants no access. */
  viewers?: true;
  /** Rate limit bucket; by default, the method decides. */
  bucket?: Bucket;
  /**
   * False if the route works while the disk is nearly full: ending or answering started work, signing in and out,
   * changing or replacing a key (it may have leaked), and searches, which write nothing. A DELETE always works, because
   * it frees space or revokes a right.
   */
  needsRoom?: false;
  query?: Query;
  /** Reads a body that is not JSON or exceeds the usual limit; its errors are thrown after admission. */
  read?: BodyReader;
}

/** Declaration of an API route, beside its body and path parameters. */
export interface Operation extends Access {
  id: string;
  summary: string;
  /** Path parameters with a more precise schema than the route's, which accepts more to give better errors. */
  path?: Query;
  /** Schema of the 200 response. */
  returns?: TSchema;
  /** Schema of the 201 response. */
  creates?: TSchema;
  /** Other success statuses and when they occur; the body is the same, if the status has one. */
  also?: Record<number, string>;
  /** Request headers beside those common to the method. */
  requestHeaders?: readonly RequestHeader[];
  /** Response headers of successes beside the common ones. */
  responseHeaders?: readonly ResponseHeader[];
  /** Response media types other than JSON. */
  media?: readonly string[];
  /** Schema of the multipart body, if accepted. */
  parts?: TSchema;
  /** Media type of an accepted body that is not JSON. */
  binary?: string;
  /** Condition under which the route returns server-sent events. */
  streams?: string;
  /** Example request, if the one generated from the schema says too little. */
  example?: unknown;
  /** Error codes beside those derived from the other fields, the method and the path. */
  errors?: readonly ErrorCode[];
}

export interface Route {
  method: string;
  path: string;
  hooks: { detail?: { operation?: Partial<Operation>; tags?: string[] }; body?: TSchema; params?: TSchema };
}

/** Stores a declaration in a route's options. */
export const withDeclaration = (operation: Partial<Operation>) => ({ detail: { operation } as DocumentDecoration });

/** Reads a route's declaration; empty if it has none. */
export const declarationOf = ({ hooks }: Route): Partial<Operation> => hooks.detail?.operation ?? {};
