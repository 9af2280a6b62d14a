import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { AppError } from "../../core/errors.ts";
import { errorHeaders, firstFault, toAppError, validationError } from "../../http/errors.ts";
import { isKeptStatus, replayedHeader } from "../../http/idempotency.ts";
import type { Principal } from "../../http/principal.ts";
import type { Api, ApiAnswer, DoorAccess, Forward } from "../../http/within.ts";
import { lazy } from "../../lib/lazy.ts";
import { openAiError } from "./errors.ts";

// What all of OpenAI's addresses have in common: who asks, what the API is asked, and how a refusal is said.

export type Door = ReturnType<typeof createDoor>;

export function createDoor({ identify, api, forward }: Pick<DoorAccess, "identify" | "api" | "forward">) {
  /** Requests of whose changes one was made before, by the same `Idempotency-Key`. */
  const repeated = new WeakSet<Request>();

  /** Asks the API for what has to be there; throws what it refuses. */
  async function must(...asked: Parameters<Api>): Promise<ApiAnswer["body"]> {
    const [request] = asked;
    const answer = await api(...asked);
    if (answer.status >= 400) throw thrownAs(answer);
    if (Object.keys(replayedHeader).some((name) => answer.headers.has(name))) repeated.add(request);
    return answer.body;
  }

  return {
    must,

    /**
     * The rest of what makes the thing at `path`, which was made first: it is deleted if the rest is refused, and that
     * refusal is thrown. It stays where the same request may go on with it by its `Idempotency-Key`, or was given it by that.
     */
    async orUndo(request: Request, path: string, rest: () => Promise<unknown>): Promise<void> {
      try {
        await rest();
      } catch (error) {
        const isLast = error instanceof AppError && isKeptStatus(error.status);
        const stays = request.headers.has("idempotency-key") && (repeated.has(request) || !isLast);
        if (!stays) await api(request, "DELETE", path).catch(() => null);
        throw error;
      }
    },

    /** Says who asks, and every refusal in OpenAI's shape. */
    async guarded(
      { request, set }: { request: Request; set: { headers: Record<string, unknown> } },
      work: (principal: Principal) => Promise<Response> | Response,
    ): Promise<Response> {
      try {
        // Each request is a read; what it asks of the API is counted there.
        const response = await work(identify(request, set.headers, "reads_per_minute"));
        if (repeated.has(request))
          for (const [name, value] of Object.entries(replayedHeader)) response.headers.set(name, value);
        return response;
      } catch (thrown) {
        if (thrown instanceof Refused) return thrown.response;
        const error = toAppError(thrown);
        if (error.code === "internal_error") throw thrown; // A bug: the log shall have its cause.
        return json(error.status, openAiError(error), { ...errorHeaders(error), ...(isFinal(error) && noRetry) });
      }
    },

    /** Asks the same of what is no JSON: the API's own response. */
    async pass(...asked: Parameters<Forward>): Promise<Response> {
      const response = await forward(...asked);
      if (response.status < 400) return response;
      throw thrownAs({ status: response.status, body: await response.json(), headers: response.headers });
    },
  };
}

/** OpenAI's clients ask twice more whenever a status is from 500, unless they are told not to. */
export const noRetry = { "x-should-retry": "false" };

/** Whether the same texts would fail again: a failure that may pass says when to come back. */
const isFinal = ({ code, retryAfter }: AppError): boolean => code === "embedding_failed" && retryAfter === undefined;

/** Says whether a body is of a schema; throws what is wrong with it first. */
export function readerOf<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const check = lazy(() => TypeCompiler.Compile(schema));
  return (body) => {
    if (check().Check(body)) return body;
    throw validationError([firstFault(check().Errors(body))]);
  };
}

/** `body` may be JSON already. */
export const json = (status: number, body: object | string, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

class Refused extends Error {
  constructor(readonly response: Response) {
    super("The API refused what the door asked of it.");
  }
}

/** What the API refused, as it is thrown here. */
function thrownAs({ status, body, headers }: ApiAnswer): Error {
  const { error } = body;
  if (status < 500) {
    const retryAfter = headers.get("retry-after");
    return new AppError(error.code, error.message, {
      ...(error.param && { param: error.param }),
      ...(retryAfter && { retryAfter: Number(retryAfter) }),
    });
  }
  const { message, type, param, code } = error;
  return new Refused(json(status, { error: { message, type, param, code } }));
}
