import type { Base, Module } from "../../http/module.ts";
import { createAccessTokens } from "./access-tokens.ts";

export type OAuthModule = ReturnType<typeof createOAuthModule>;

/** OAuth clients of tools, and their tokens. */
export function createOAuthModule(_: { base: Base }) {
  const accessTokens = createAccessTokens();
  return { accessTokens } satisfies Module;
}
