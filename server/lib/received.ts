const received = new WeakSet<Request>();

/** Notes that all of a request's body was read: what it still waits for is up to the server. */
export const markReceived = (request: Request): void => void received.add(request);

/** Whether nothing more is expected of the client; what has no body is complete from the start. */
export const isReceived = (request: Request): boolean => received.has(request) || request.body === null;
