const received = new WeakSet<Request>();

/** Marks the body of a request as read: from here on only the server causes delays. */
export const markBodyReceived = (request: Request): void => void received.add(request);

/** Waits for server work before the body is read; the client is not considered silent meanwhile. */
export async function keepConnectionOpen<T>(request: Request, awaited: Promise<T>): Promise<T> {
  received.add(request);
  const value = await awaited;
  received.delete(request);
  return value;
}

/** True if no more data is expected of the client. A request without a body is complete from the start. */
export const isBodyReceived = (request: Request): boolean => received.has(request) || request.body === null;
