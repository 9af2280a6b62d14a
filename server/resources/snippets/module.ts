import type { Base, Module } from "../../http/module.ts";
import { snippetRoutes } from "./routes.ts";
import { createSnippetStore } from "./store.ts";

export type SnippetsModule = ReturnType<typeof createSnippetsModule>;

/** Texts that agents share. */
export function createSnippetsModule({ base }: { base: Base }) {
  const snippets = createSnippetStore(base);
  return { routes: (auth) => [snippetRoutes({ auth, snippets })], store: snippets } satisfies Module;
}
