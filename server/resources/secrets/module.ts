import type { Base, Module } from "../../http/module.ts";
import { secretRoutes } from "./routes.ts";
import { createSecretStore } from "./store.ts";

export type SecretsModule = ReturnType<typeof createSecretsModule>;

/** Write-only values that tools send. */
export function createSecretsModule({ base }: { base: Base }) {
  const secrets = createSecretStore(base);
  return { routes: (auth) => [secretRoutes({ auth, secrets })], store: secrets } satisfies Module;
}
