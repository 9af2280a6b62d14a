import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { App } from "../../app.ts";
import { createAccounts } from "../../dashboard-api/accounts.ts";
import { createLoginThrottle } from "../../dashboard-api/login-throttle.ts";
import { createPasswords } from "../../dashboard-api/password.ts";
import { createSignInLinks, type SignInLinks, signInLink } from "../../dashboard-api/sign-in-links.ts";
import type { Log } from "../../lib/log.ts";
import { createAudit } from "../../storage/db/audit.ts";
import type { DataDir } from "../../storage/db/data-dir.ts";
import type { Db } from "../../storage/db/open.ts";
import { cliActor } from "../commands/actor.ts";
import { type ApiClient, ConnectionLost, createApiClient } from "../commands/api-client.ts";
import { CliError } from "../commands/exit-code.ts";
import { mayOpenBrowser, openBrowser } from "./open-browser.ts";
import { createReadyAgent } from "./ready-agent.ts";

/** Server for development that is being started. */
interface StartingServer {
  app: App;
  db: Db;
  dir: DataDir;
  /** Its origin. */
  url: string;
  log: Log;
}

/** For the person at this machine. */
export interface DevelopmentAccess {
  /** Secret of a test key with all scopes. */
  api_key: string;
  /** Name of an agent that can be run; null if none could be made. */
  agent: string | null;
  /** Address that signs in to the dashboard, once. */
  sign_in_link: string;
}

/** Parts of a server for development that a server in service lacks. */
export interface Development {
  signInLinks: SignInLinks;
  /** Prepares a key, an agent and a link. The server must answer requests already. */
  prepare(server: StartingServer): Promise<DevelopmentAccess>;
  /** Opens the dashboard, if a person is at this terminal and wants it. */
  show(access: DevelopmentAccess): void;
}

export function createDevelopment({ opens, dataDir }: { opens: boolean; dataDir: string }): Development {
  const page = resolve(join(dataDir, "sign-in.html"));
  const signInLinks = createSignInLinks({ onUsed: () => rmSync(page, { force: true }) });
  return {
    signInLinks,
    async prepare({ app, db, dir, url, log }) {
      const audit = createAudit({ db });
      const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle() });
      const clientWith = (apiKey: string) => createApiClient({ address: url, apiKey, ca: null });
      const person = await accounts.openDeveloper(cliActor());
      const api_key = await developerKey(app, dir, clientWith);
      const agent = await createReadyAgent(clientWith(api_key)).catch((error) => {
        log.warn("the agent for a first run was not created", { error });
        return null;
      });
      return { api_key, agent, sign_in_link: signInLink(url, signInLinks.issue(person)) };
    },
    show: ({ sign_in_link }) => {
      if (!opens || !mayOpenBrowser()) return;
      // By a file that only its owner reads: other users of this machine see the arguments of a browser.
      writeFileSync(page, `<meta http-equiv="refresh" content="0; url=${sign_in_link}">\n`, { mode: 0o600 });
      openBrowser(pathToFileURL(page).href);
    },
  };
}

/**
 * Returns the key of this data directory. Its secret is kept in a file for the owner alone, so that it stays the same
 * over restarts; a key that is not valid any more is replaced, and earlier ones are revoked. Throws if the server does not respond.
 */
async function developerKey(
  { keys, projects }: App,
  { developerKey: path }: DataDir,
  clientWith: (apiKey: string) => ApiClient,
): Promise<string> {
  const known = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  if (known !== "" && (await isValid(clientWith(known)))) return known;
  const project = (await projects.createDefault()) ?? projects.list().find((each) => each.archived_at_ms === null);
  if (!project)
    throw new CliError('There is no open project in this data directory. "runnel projects list" shows them.');
  const author = { project_id: project.id, environment: "test" as const, actor: cliActor() };
  const { id: ownId, secret } = await keys.create(author, { name: keyName, scopes: ["admin"] });
  writeFileSync(`${path}.partial`, `${secret}\n`, { mode: 0o600 });
  renameSync(`${path}.partial`, path);
  // The secrets of earlier ones are lost, or somebody else's.
  for await (const { id, name, created_by, status } of clientWith(secret).all<ListedKey>("/api_keys"))
    if (name === keyName && created_by === "cli" && status === "active" && id !== ownId) await keys.revoke(author, id);
  return secret;
}

interface ListedKey {
  id: string;
  name: string | null;
  created_by: string;
  status: string;
}

/** Name of the key, by which it is found in lists. */
const keyName = "runnel dev";

async function isValid(client: ApiClient): Promise<boolean> {
  try {
    await client.get("/me");
    return true;
  } catch (error) {
    if (error instanceof ConnectionLost) throw error;
    return false; // It is refused.
  }
}
