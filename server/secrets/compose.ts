import type { Base, Part } from "../http/part.ts";
import { secretRoutes } from "./routes.ts";
import { createSecretStore } from "./store.ts";

/** Values that tools send and nobody reads again. */
export function composeSecrets(base: Base) {
  const secrets = createSecretStore(base);
  return { routes: (auth) => [secretRoutes({ auth, secrets })], ports: secrets } satisfies Part;
}
