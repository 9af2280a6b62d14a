import type { AccessToken } from "../../domain/access-token.ts";
import { AppError } from "../../domain/errors.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { silentLog } from "../../lib/log.ts";
import type { AccessTokens } from "../../resources/oauth/access-tokens.ts";
import type { ConsentLinks } from "../../runs/consent/consent-links.ts";
import { createConsents } from "../../runs/consent/consents.ts";
import type { ToolOutcome } from "../../runtime/agent-loop/tools/tool-result.ts";
import { type Fixture, type Ledger, short, type Witness } from "./witness.ts";
import { Found, type World } from "./world.ts";

const client = { oauth_client_id: "oac_mail", name: "Mail" };
const look_ms = 10_000;
/** A run whose consent is there goes on within a few looks, however the last ones failed. */
const patience_ms = 4 * look_ms;

export const users = ["ada", "bob", "eve"] as const;
/** The tool that is called with its user's account. */
export const mailTool = "mail";

export type Accounts = ReturnType<typeof createAccounts>;
type Consents = ReturnType<typeof createConsents>;

/**
 * Users who connect their accounts, refuse, come back late or never, and take their consent back. Their consents are
 * stored: they outlive the process. Checks that each run goes on with a consent of its own user, and with nothing else.
 */
export function createAccounts(world: World, witness: Witness, fixture: () => Fixture) {
  const { found, ledgers } = witness;
  /** The consents that are stored, by user. */
  const granted = new Set<string>();
  /** When each user last had a consent. */
  const lastHad = new Map<string, number>();
  /** Runs at whose request a user refused. */
  const refused = new Set<string>();
  /** Since when a run waits although its user has consented. */
  const late = new Map<string, number>();
  let grantListeners: Parameters<AccessTokens["onGranted"]>[0][] = [];
  let denialListeners: Parameters<AccessTokens["onDenied"]>[0][] = [];
  let consents: Consents;

  const userOf = (id: string): string | null => ledgers.get(id)?.state.run?.user_id ?? null;

  const accessTokens: AccessTokens = {
    async get(_, __, userId): Promise<AccessToken> {
      await world.wait("a token is looked up");
      return granted.has(userId ?? "")
        ? { status: "ready", token: `token of ${userId}`, expiresAt: null }
        : {
            status: "authorization_required",
            oauthClientId: client.oauth_client_id,
            oauthClientName: client.name,
            userId,
          };
    },
    async authorize(_, __, { userId, runId }) {
      if (userId === null || userOf(runId!) !== userId)
        throw found(`${short(runId!)}: ${userId} is sent to consent for a run of ${userOf(runId!)}`);
      return { state: userId, expiresAt: world.now() };
    },
    requested: () => null,
    shown: async () => null,
    send: async (state) => state,
    onGranted: (listener) => void grantListeners.push(listener),
    onDenied: (listener) => void denialListeners.push(listener),
  };

  /** Starts the part of a process that waits for consents. */
  function start(): void {
    const { db, journal, watches, service } = fixture();
    [grantListeners, denialListeners] = [[], []];
    const links = { proof: () => "" } as unknown as ConsentLinks;
    const deps = { db, journal, watches, accessTokens, links, ...service.authorization, log: silentLog, look_ms };
    consents = createConsents(deps);
  }

  function grant(userId: string): void {
    world.note(`${userId} consents`);
    granted.add(userId);
    lastHad.set(userId, world.now());
    // The process may die before it tells its runs.
    const listeners = grantListeners;
    world.queue(`the server tells its runs of the consent of ${userId}`, () => {
      for (const tell of listeners) tell({ scope: fixture().scope, oauthClientId: client.oauth_client_id, userId });
    });
  }

  function takeBack(userId: string): void {
    if (!granted.delete(userId)) return;
    lastHad.set(userId, world.now());
    world.note(`${userId}'s consent is over`);
  }

  function refuse(runId: string): void {
    world.note(`${short(runId)}: its user refuses`);
    refused.add(runId);
    for (const tell of denialListeners) {
      const about = { scope: fixture().scope, oauthClientId: client.oauth_client_id };
      tell({ ...about, runId, reason: "They said no." });
    }
  }

  /** Sends a user where a run asks for, from where they come back with a consent, with a refusal, or never. */
  async function open(runId: string, isCalm: boolean): Promise<void> {
    try {
      const user = await consents.begin(consents.open(`${runId}.${client.oauth_client_id}.`), "");
      await world.wait(`${user} is at the issuer`);
      const fate = world.random();
      if (fate < 0.2) refuse(runId);
      else if (isCalm || fate < 0.9) grant(user);
    } catch (error) {
      if (error instanceof Found) throw error;
      if (!(error instanceof AppError) || error.code !== "run_not_awaiting_action")
        throw found(`${short(runId)}: its user cannot be sent to consent: ${error}`);
    }
  }

  /** Returns what stops a call of the tool that needs an account; null if it is made. */
  async function missingFor(runId: string, name: string): Promise<ToolOutcome | null> {
    if (name !== mailTool) return null;
    const user_id = userOf(runId);
    if (user_id === null) {
      const error = { code: "user_id_required", message: "The run has no user_id." };
      return { output: null, error, request: "not_sent", attempts: 0 };
    }
    if (!granted.has(user_id)) return { authorization: { ...client, user_id } };
    if (world.chance(0.5)) takeBack(user_id); // Its token was good for one call.
    return null;
  }

  function judge(ledger: Ledger, event: RunEvent): void {
    const { id, state } = ledger;
    if (event.type === "tool.requested" && event.call.authorization?.user_id !== undefined)
      if (event.call.authorization.user_id !== userOf(id)) throw found(`${short(id)}: waits for another user`);
    if (event.type === "tool.authorized") {
      const call = state.calls.find((one) => one.id === event.tool_call_id);
      if (call?.needs !== "authorization") throw found(`${short(id)}: goes on with a call that did not wait`);
      const had = lastHad.get(userOf(id) ?? "") ?? Number.NEGATIVE_INFINITY;
      // The word of a consent that has ended since may be under way. The call then lacks its token, and waits again.
      if (!granted.has(userOf(id) ?? "") && had + look_ms < (state.waiting_since ?? 0))
        throw found(`${short(id)}: goes on without a consent of ${userOf(id)}`);
    }
    if (event.type === "tool.completed" && event.error?.code === "authorization_denied")
      if (!refused.has(id) && !event.error.message.includes("<mark"))
        throw found(`${short(id)}: refused, but its user did not refuse`);
  }

  /** Checks, while no work is left, that no run waits for a consent that is there. */
  function idle(): void {
    for (const { id, state } of ledgers.values()) {
      const waits = state.status === "requires_action" && state.calls.some(({ needs }) => needs === "authorization");
      if (!waits || !granted.has(userOf(id) ?? "")) late.delete(id);
      else if (!late.has(id)) late.set(id, world.now());
      else if (world.now() - late.get(id)! > patience_ms)
        throw found(`${short(id)}: waits for a consent of ${userOf(id)}, which is there (P2)`);
    }
  }

  witness.judgedBy(judge);
  return {
    start,
    open: (runId: string, isCalm: boolean) => void open(runId, isCalm).catch(() => {}), // The witness keeps the error.
    /** Begins to look at what waits, once the process has recovered. */
    opened: () => consents.start(),
    stop: () => consents.stop(),
    missingFor,
    idle,
    /** Notes that the process or the disk has failed: what waits gets its time anew. */
    disturbed: () => late.clear(),
    /** Ends a consent at the issuer: the next call needs another one. */
    takeBack: () => takeBack(world.pick(users)),
  };
}
