import type { Base, Module } from "../../http/module.ts";
import { secretRoutes } from "./routes.ts";
import { createSecretStore } from "./store.ts";

/** Write-only values that tools send. */
export function createSecretsModule(base: Base) {
  const secrets = createSecretStore(base);
  return { routes: (auth) => [secretRoutes({ auth, secrets })], exports: secrets } satisfies Module;
}
