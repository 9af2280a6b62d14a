/**
 * A hook that awaits nothing. The framework looks for that in a hook's text, and takes a call that is returned, or any
 * that a minifier wrote, for a promise: it would await it at each request.
 */
export const atOnce = <Hook extends (...given: never[]) => unknown>(fn: Hook): Hook =>
  ({ fn, isAsync: false }) as unknown as Hook;
