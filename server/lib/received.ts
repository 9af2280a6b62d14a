const received = new WeakSet<Request>();

/** Notes that all of a request's body was read: what it still waits for is up to the server. */
export const markReceived = (request: Request): void => void received.add(request);

/** Waits for something of the server's own before a request is read: until then nothing is expected of the client. */
export async function keepWaiting<T>(request: Request, awaited: Promise<T>): Promise<T> {
  received.add(request);
  const value = await awaited;
  received.delete(request);
  return value;
}

/** Whether nothing more is expected of the client; what has no body is complete from the start. */
export const isReceived = (request: Request): boolean => received.has(request) || request.body === null;
