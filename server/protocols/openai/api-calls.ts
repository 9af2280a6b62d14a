import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { AppError } from "../../domain/errors.ts";
import { errorHeaders, firstFault, toAppError, validationError } from "../../http/errors.ts";
import { isStorableStatus, replayedHeader } from "../../http/idempotency.ts";
import type { Api, ApiResponse, Forward, ProtocolAccess } from "../../http/internal-client.ts";
import type { Principal } from "../../http/principal.ts";
import { lazy } from "../../lib/lazy.ts";
import { openAiError } from "./errors.ts";

// Shared by all of OpenAI's routes: authentication, API calls, and the error format.

export type ApiCalls = ReturnType<typeof createApiCalls>;

export function createApiCalls({ identify, api, forward }: Pick<ProtocolAccess, "identify" | "api" | "forward">) {
  /** Requests with a change that was replayed by its `Idempotency-Key`. */
  const repeated = new WeakSet<Request>();

  /** Calls the API. Throws its error. */
  async function must(...asked: Parameters<Api>): Promise<ApiResponse["body"]> {
    const [request] = asked;
    const answer = await api(...asked);
    if (answer.status >= 400) throw thrownAs(answer);
    if (Object.keys(replayedHeader).some((name) => answer.headers.has(name))) repeated.add(request);
    return answer.body;
  }

  return {
    must,

    /**
     * Runs the remaining steps of creating the thing at `path`, and deletes it if they are refused; then throws that
     * refusal. Keeps it if a retry with the same `Idempotency-Key` may continue with it, or if this request got it by
     * such a key.
     */
    async orUndo(request: Request, path: string, rest: () => Promise<unknown>): Promise<void> {
      try {
        await rest();
      } catch (error) {
        const isLast = error instanceof AppError && isStorableStatus(error.status);
        const isKept = request.headers.has("idempotency-key") && (repeated.has(request) || !isLast);
        if (!isKept) await api(request, "DELETE", path).catch(() => null);
        throw error;
      }
    },

    /** Authenticates the request, and converts every error to OpenAI's format. */
    async guarded(
      { request, set }: { request: Request; set: { headers: Record<string, unknown> } },
      work: (principal: Principal) => Promise<Response> | Response,
    ): Promise<Response> {
      try {
        // Each request counts as a read; the API requests that it makes are counted too.
        const response = await work(identify(request, set.headers, "reads_per_minute"));
        if (repeated.has(request))
          for (const [name, value] of Object.entries(replayedHeader)) response.headers.set(name, value);
        return response;
      } catch (thrown) {
        if (thrown instanceof Refused) return thrown.response;
        const error = toAppError(thrown);
        if (error.code === "internal_error") throw thrown; // A bug: rethrow it, so that its cause is logged.
        return json(error.status, openAiError(error), { ...errorHeaders(error), ...(isFinal(error) && noRetry) });
      }
    },

    /** Forwards a request whose body is not JSON; returns the API's response. */
    async pass(...asked: Parameters<Forward>): Promise<Response> {
      const response = await forward(...asked);
      if (response.status < 400) return response;
      throw thrownAs({ status: response.status, body: await response.json(), headers: response.headers });
    },
  };
}

/** Header that stops OpenAI's clients from retrying, which they do twice for statuses from 500. */
export const noRetry = { "x-should-retry": "false" };

/** True if the same texts would fail again. A temporary failure has a `retryAfter`. */
const isFinal = ({ code, retryAfter }: AppError): boolean => code === "embedding_failed" && retryAfter === undefined;

/** Returns a function that validates a body. It throws the first error. */
export function readerOf<T extends TSchema>(schema: T): (body: unknown) => Static<T> {
  const check = lazy(() => TypeCompiler.Compile(schema));
  return (body) => {
    if (check().Check(body)) return body;
    throw validationError([firstFault(check().Errors(body))]);
  };
}

/** `body` may be JSON text already. */
export const json = (status: number, body: object | string, headers: Record<string, string> = {}): Response =>
  new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

class Refused extends Error {
  constructor(readonly response: Response) {
    super("The API refused a call of the protocol.");
  }
}

/** Converts an API error response to an error to throw. */
function thrownAs({ status, body, headers }: ApiResponse): Error {
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
