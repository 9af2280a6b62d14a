import { type ChatSettings, defaultChatLimits } from "../../domain/chat-page.ts";
import { AppError } from "../../domain/errors.ts";
import { firstIdAt, newId } from "../../domain/ids.ts";
import { notFound, throwNotFound } from "../../domain/not-found.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { timestamp } from "../../domain/time.ts";
import type { Viewer } from "../../http/auth.ts";
import type { PublicUrl } from "../../http/errors.ts";
import type { RateLimits } from "../../http/rate-limit.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { Seal } from "../../lib/seal.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { chatPages } from "../../storage/db/schema.ts";
import { createReader } from "../../storage/db/scoped-table.ts";
import type { PutChatPage } from "./schema.ts";

type Row = typeof chatPages.$inferSelect;

/** A page as its visitors use it; looked up without a tenant. */
export interface OpenPage extends Scope, ChatSettings {
  id: string;
  agent_id: string;
  /** Limits of the project that differ from the defaults. */
  project_limits: Partial<RateLimits>;
  /** Ages in ms, longest first, of the runs that visitors of the page started in the last `span_ms`. */
  runsBefore(span_ms: number): number[];
}

interface ChatPageStoreOptions extends StoreBase {
  seal: Seal;
  hasAgent: (viewer: Viewer, id: string) => boolean;
  /** Throws unless the agent has this label. */
  requireLabel: (viewer: Viewer, agentId: string, label: string) => void;
  publicUrl: PublicUrl;
}

export type ChatPageStore = ReturnType<typeof createChatPageStore>;

/** Stores the chat pages on which people talk with agents without an API key. */
export function createChatPageStore({
  db,
  audit,
  seal,
  hasAgent,
  requireLabel,
  publicUrl,
  now = Date.now,
}: ChatPageStoreOptions) {
  const { sqlite } = db;
  const read = createReader(chatPages);
  const columns = "project_id, environment, agent_id, id, settings, sealed, created_at_ms, updated_at_ms";
  const ofAgent = "project_id = ? AND environment = ? AND agent_id = ?";
  const select = sqlite.query<Record<string, unknown>, [string, Environment, string]>(
    `SELECT ${columns} FROM chat_pages WHERE ${ofAgent}`,
  );
  const upsert = sqlite.query(
    `INSERT INTO chat_pages (${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (project_id, environment, agent_id) DO UPDATE SET
       id = excluded.id, settings = excluded.settings, sealed = excluded.sealed, updated_at_ms = excluded.updated_at_ms`,
  );
  const deletion = sqlite.query(`DELETE FROM chat_pages WHERE ${ofAgent}`);
  // Archived projects have no pages.
  const open = `SELECT c.project_id, c.environment, c.agent_id, c.id, c.settings, c.sealed, p.settings AS project
    FROM chat_pages c JOIN projects p ON p.id = c.project_id WHERE p.archived_at_ms IS NULL AND`;
  type Found = Omit<Row, "settings"> & { settings: string; project: string };
  const byAgent = sqlite.query<Found, [string]>(`${open} c.agent_id = ?`);
  const byId = sqlite.query<Found, [string]>(`${open} c.id = ?`);
  const toOpen = ({ settings, project, sealed: _, ...page }: Found): OpenPage => ({
    ...page,
    ...(JSON.parse(settings) as ChatSettings),
    project_limits: JSON.parse(project),
    runsBefore: (span_ms) => runsBefore(page, span_ms),
  });
  // Selects runs of users whom the page created, limited to the agent and the period.
  const selectRuns = sqlite.query<{ age_ms: number }, [number, string, Environment, string, string]>(
    `SELECT max(0, ? - created_at_ms) AS age_ms FROM runs WHERE ${ofAgent} AND id >= ?
       AND (user_id GLOB 'visitor_*' OR user_id GLOB '*/' || agent_id)
       AND parent_run_id IS NULL AND source_run_id IS NULL ORDER BY id`,
  );
  function runsBefore({ project_id, environment, agent_id }: Pick<Found, keyof Scope | "agent_id">, span_ms: number) {
    const from = firstIdAt("run", now() - span_ms);
    return selectRuns.all(now(), project_id, environment, agent_id, from).map(({ age_ms }) => age_ms);
  }
  const pages = db.kept.rows((id: string) => {
    const found = byId.get(id);
    return found && toOpen(found);
  });

  /** Returns the page's row, or null. Throws if the viewer has no such agent. */
  function find(viewer: Viewer, agentId: string): Row | null {
    if (!hasAgent(viewer, agentId)) throw notFound();
    const row = select.get(viewer.project_id, viewer.environment, agentId);
    return row && read(row);
  }

  const requireRow = (viewer: Viewer, agentId: string): Row => find(viewer, agentId) ?? throwNotFound();

  /** Call inside a write. */
  function keep(scope: Scope, row: Omit<Row, keyof Scope>): Row {
    const { project_id, environment } = scope;
    const { agent_id, id, settings, sealed, created_at_ms, updated_at_ms } = row;
    upsert.run(project_id, environment, agent_id, id, JSON.stringify(settings), sealed, created_at_ms, updated_at_ms);
    return { ...row, project_id, environment };
  }

  function newLink(): Pick<Row, "id" | "sealed"> {
    const id = newId("chat_page", now());
    return { id, sealed: seal.seal(randomToken(), contextOf(id)) };
  }

  function serialize(row: Row) {
    const { agent_id, project_id, environment } = row;
    const address = `${publicUrl()}/chat/${agent_id}`;
    return {
      object: "chat_page" as const,
      agent_id,
      ...row.settings,
      files: row.settings.files ?? false,
      label: row.settings.label ?? null,
      url: row.settings.access === "link" ? `${address}#${seal.open(row.sealed, contextOf(row.id))}` : address,
      created_at: timestamp(row.created_at_ms),
      updated_at: timestamp(row.updated_at_ms),
      project_id,
      environment,
    };
  }

  return {
    get: (viewer: Viewer, agentId: string) => serialize(requireRow(viewer, agentId)),

    /** Creates or replaces the page; its link stays. */
    async put(author: Author & Viewer, agentId: string, input: PutChatPage) {
      const { access, title = null, budget = null, files = false, label = null } = input;
      const limits = { ...defaultChatLimits.limits, ...input.limits };
      const visitor_limits = { ...defaultChatLimits.visitor_limits, ...input.visitor_limits };
      return await db.write(() => {
        const before = find(author, agentId);
        if (label !== null) requireLabel(author, agentId, label);
        const at = now();
        const row = keep(author, {
          ...(before ?? { ...newLink(), agent_id: agentId, created_at_ms: at }),
          settings: { access, title, limits, visitor_limits, budget, files, label },
          updated_at_ms: at,
        });
        audit.note(author, "chat_page.set", agentId, { access });
        return serialize(row);
      });
    },

    /** Gives the page another link. The old link and its tokens stop working. */
    rotate: (author: Author & Viewer, agentId: string) =>
      db.write(() => {
        const row = keep(author, { ...requireRow(author, agentId), ...newLink(), updated_at_ms: now() });
        audit.note(author, "chat_page.rotated", agentId);
        return serialize(row);
      }),

    remove: (author: Author & Viewer, agentId: string) =>
      db.write(() => {
        requireRow(author, agentId);
        deletion.run(author.project_id, author.environment, agentId);
        audit.note(author, "chat_page.deleted", agentId);
        return { id: agentId, object: "chat_page" as const, deleted: true };
      }),

    /** Returns an agent's page and the secret of its link, or null. */
    at(agentId: string): { page: OpenPage; secret: string } | null {
      const found = byAgent.get(agentId);
      return found && { page: toOpen(found), secret: seal.open(found.sealed, contextOf(found.id)) };
    },

    /** Returns the page that a token names, or null if its link was replaced or the page was deleted. */
    open: (id: string): OpenPage | null => pages.of(id),

    /** Returns the reason why a page's token is no longer accepted, or null. */
    noLongerOpen: (id: string): AppError | null =>
      byId.get(id) ? null : new AppError("key_revoked", "The chat page of this token was closed, or has another link."),
  };
}

// Sealing context: a link that is copied to another row does not open.
const contextOf = (id: string): string => `chat_page/${id}`;
