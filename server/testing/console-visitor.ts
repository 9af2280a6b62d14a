import { createAccounts } from "../dashboard-api/accounts.ts";
import { createLoginThrottle } from "../dashboard-api/login-throttle.ts";
import { createPasswords } from "../dashboard-api/password.ts";
import type { Role } from "../domain/api-types/enums.ts";
import { createAudit } from "../storage/db/audit.ts";
import type { Answer } from "./expect-declared.ts";
import { testActor } from "./test-actor.ts";
import type { TestApp } from "./test-app.ts";

export const visitorPassword = "correct horse battery";

/** Person at the dashboard of a `testApp({dashboard: true})`. */
export interface ConsoleVisitor {
  id: string;
  email: string;
  cookie: string;
  /** Sends a request as the dashboard's own page does; `path` begins after `/console/api`. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer>;
}

/** Sends a request with this cookie, as a page of the dashboard does. */
export const asPage =
  (server: TestApp, cookie = ""): ConsoleVisitor["send"] =>
  (method, path, body, headers = {}) =>
    server.send(method, `/console/api${path}`, body, {
      host: "localhost",
      cookie,
      "x-runnel-console": "1",
      origin: "http://localhost",
      "sec-fetch-site": "same-origin",
      ...headers,
    });

export const cookieOf = ({ headers }: Answer): string => headers.get("set-cookie")?.split(";")[0] ?? "";

/** Signs in to an existing account. */
export async function signIn(server: TestApp, email: string, password = visitorPassword): Promise<ConsoleVisitor> {
  const answer = await asPage(server)("POST", "/login", { email, password }, { "user-agent": "test browser" });
  const cookie = cookieOf(answer);
  return { id: answer.body.user.id, email, cookie, send: asPage(server, cookie) };
}

/** Creates an account with this role and signs in. */
export async function visitorOf(server: TestApp, role: Role, email = `${role}@example.com`): Promise<ConsoleVisitor> {
  const audit = createAudit({ db: server.db });
  const throttle = createLoginThrottle();
  const accounts = createAccounts({ db: server.db, audit, passwords: createPasswords(), throttle });
  await accounts.create({ email, password: visitorPassword, role }, () => testActor);
  return await signIn(server, email);
}
