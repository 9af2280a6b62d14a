import type { AgentChoice } from "../../domain/agent-label.ts";
import { tightestBudget } from "../../domain/budget.ts";
import { oneThreadToken, otherUserToken } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { invalid } from "../../http/errors.ts";
import type { Principal } from "../../http/principal.ts";
import { type CreateRun, newThread } from "../schema.ts";

type Content = Exclude<CreateRun["input"], string>[number]["content"];

/** Fields of a run that a client token may set. Others come from the agent or need an API key. */
const fields: ReadonlySet<string> = new Set<keyof CreateRun>([
  ...(["agent_id", "input", "stream", "thread_id", "if_thread_busy", "user_id", "budget", "timeout_ms"] as const),
  ...(["action_timeout_ms", "on_disconnect", "on_concurrency_limit", "metadata"] as const),
]);

/**
 * Returns the body with the token's user, thread and budget applied. Throws 403 for a field that only API keys may set,
 * and 400 for another user.
 */
export function applyTokenRules({ token }: Principal, body: CreateRun): CreateRun {
  if (!token) return body;
  if (token.run_id !== null)
    throw new AppError("insufficient_scope", "This client token is for one run and cannot start runs.", {
      param: "run_id",
    });
  // A token that may submit the outputs of its page's tools may declare those tools; they replace none of the agent's
  // own.
  const isField = (name: string) =>
    fields.has(name) ||
    (name === "tools" && token.scopes.has("submit")) ||
    (name === "file_ids" && token.scopes.has("upload"));
  const param = Object.keys(body).find((name) => !isField(name));
  if (param) throw new AppError("insufficient_scope", `A client token cannot set ${param} of a run.`, { param });
  if (typeof body.input !== "string" && body.input.some(({ role }) => role !== "user"))
    throw new AppError("insufficient_scope", "A client token can only send messages with the role user.", {
      param: "input",
    });
  if (typeof body.input !== "string") for (const { content } of body.input) requireOwnFiles(content, "input");
  if (body.user_id !== undefined && body.user_id !== token.user_id) throw invalid("user_id", otherUserToken);
  if (body.thread_id === newThread && token.thread_id !== null)
    throw new AppError("insufficient_scope", oneThreadToken, {
      param: "thread_id",
    });
  const thread_id = body.thread_id ?? token.thread_id ?? undefined;
  const user_id = token.user_id ?? undefined;
  const budget = tightestBudget(token.budget, body.budget) ?? undefined;
  return { ...body, ...(thread_id && { thread_id }), ...(user_id && { user_id }), ...(budget && { budget }) };
}

/** Throws 403 if a client token shows a file by its id. */
export function requireTokenContent({ token }: Pick<Principal, "token">, content: Content, param: string): void {
  if (token) requireOwnFiles(content, param);
}

function requireOwnFiles(content: Content, param: string): void {
  if (showsFile(content))
    throw new AppError(
      "insufficient_scope",
      "A client token can only send images and files as data. By file_id they need an API key.",
      { param },
    );
}

/**
 * Returns the agent's version for the token's runs, which the token's maker has chosen. Throws 403 for another one.
 */
export function tokenChoice({ token }: Principal, choice: AgentChoice): AgentChoice {
  if (!token) return choice;
  const { version = null, label = null } = token;
  const isOther = choice.version !== null || choice.label !== null;
  if (isOther && (choice.version !== version || choice.label !== label))
    throw new AppError("insufficient_scope", "This client token is for another version of the agent.", {
      param: "agent_id",
    });
  return { ...choice, version, label };
}

// Files have no owner, so a browser could show another user's file by id.
const showsFile = (content: Content): boolean =>
  typeof content !== "string" && content.some((part) => "file_id" in part && part.file_id !== undefined);
