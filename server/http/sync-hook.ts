/**
 * Marks a hook as synchronous. Elysia detects that from the function's source and takes any returned or minified call
 * for a promise, which it would await at each request.
 */
export const syncHook = <Hook extends (...given: never[]) => unknown>(fn: Hook): Hook =>
  ({ fn, isAsync: false }) as unknown as Hook;
