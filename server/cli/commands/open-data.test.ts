import { expect, test } from "bun:test";
import { checkConnection } from "../../resources/model-connections/check-connection.ts";
import { oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { durablePragmas, pragmasOf } from "../../testing/pragmas.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Stores, withData } from "./open-data.ts";

test("a command that writes has the durable pragmas of the server, on a new database and on one in use", async () => {
  using folder = temporaryFolder();
  const path = folder.file("data");
  await withData(path, { create: true }, async ({ db: server }) => {
    expect(pragmasOf(server.sqlite)).toEqual(durablePragmas);
    await withData(path, { create: false }, async ({ db }) => expect(pragmasOf(db.sqlite)).toEqual(durablePragmas));
  });
});

test("a command that began to refresh a token ends once the token is stored", async () => {
  await using issuer = await startOAuthServer();
  using folder = temporaryFolder();
  const path = folder.file("data");
  const sourceOf = ({ store }: ReturnType<Stores["connected"]>) =>
    String(store.resolve("openai_compatible/gw/m", "live").connection.token_source);
  await withData(path, { create: true }, async ({ db, connected }) => {
    const { store, consents } = connected();
    const auth = { type: "oauth", grant: "authorization_code", issuer: issuer.url, client_id: oauthClientId } as const;
    const checked = checkConnection({
      name: "gw",
      base_url: "https://gw.example",
      auth: { ...auth, client_secret: oauthClientSecret },
    });
    if ("message" in checked) throw new Error(checked.message);
    await store.put(checked, testActor);
    const { state } = await consents.authorize("gw", "http://127.0.0.1/oauth/callback", testActor);
    const url = await consents.send(state, "cookie");
    const { searchParams } = new URL(issuer.consent(url!, "ada"), "http://127.0.0.1");
    expect(await consents.complete(searchParams, "cookie")).toMatchObject({ granted: true });
    db.sqlite.run("UPDATE model_connection_grants SET expires_at_ms = 1");
  });
  const asked = Promise.withResolvers<void>();
  issuer.before = async () => asked.resolve();
  await withData(path, { create: false }, async ({ connected }) => {
    const stores = connected();
    stores.store.tokenOf(sourceOf(stores)).catch(() => {});
    await asked.promise;
  });
  await withData(path, { create: false }, async ({ connected }) => {
    const stores = connected();
    const token = await stores.store.tokenOf(sourceOf(stores));
    expect(token.status === "ready" && issuer.issued()).toContain(token.status === "ready" && token.token);
  });
  expect([issuer.requests("refresh_token"), issuer.spentTwice()]).toEqual([1, 0]);
});
