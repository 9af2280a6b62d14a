import { oneThreadToken, otherUserToken } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { invalid } from "../../http/errors.ts";
import type { Principal } from "../../http/principal.ts";
import type { CreateThread } from "./schema.ts";

/** Restricts the body of a request with a client token to the token's user. */
export function applyTokenRules({ token }: Principal, body: CreateThread): CreateThread {
  if (!token) return body;
  if (token.run_id !== null || token.thread_id !== null)
    throw new AppError("insufficient_scope", oneThreadToken, {
      param: "thread_id",
    });
  if (body.user_id !== undefined && body.user_id !== token.user_id) throw invalid("user_id", otherUserToken);
  return { ...body, user_id: token.user_id };
}
