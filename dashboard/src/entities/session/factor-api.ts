import { queryOptions } from "@tanstack/react-query";
import type { Factors, Passkey, Session } from "../../../../server/domain/api-types/console.ts";
import { get, post, remove } from "../../lib/api.ts";

/** Authentication factors of the own account. */
export const factorsQuery = queryOptions({
  queryKey: ["factors"],
  queryFn: ({ signal }) => get<Factors>("/console/api/account/factors", signal),
});

export const beginTotp = (password: string): Promise<{ secret: string; uri: string }> =>
  post("/console/api/account/totp", { password });
export const confirmTotp = (code: string): Promise<{ recovery_codes: string[] }> =>
  post("/console/api/account/totp/confirm", { code });
export const removeTotp = (password: string): Promise<unknown> =>
  post("/console/api/account/totp/remove", { password });
export const renewCodes = (password: string): Promise<{ recovery_codes: string[] }> =>
  post("/console/api/account/recovery_codes", { password });
export const removePasskey = (id: string): Promise<unknown> => remove(`/console/api/account/passkeys/${id}`);

/** Creates a passkey on the device, which asks for confirmation. */
export async function addPasskey({ name, password }: { name: string; password: string }): Promise<Passkey> {
  const { startRegistration } = await import("@simplewebauthn/browser");
  const challenge = await post<{ options: Parameters<typeof startRegistration>[0]["optionsJSON"] }>(
    "/console/api/account/passkeys/begin",
    { password },
  );
  const response = await startRegistration({ optionsJSON: challenge.options });
  return await post("/console/api/account/passkeys", { name, response });
}

/** Signs in with a passkey. */
export async function signInByPasskey(): Promise<Session> {
  const { startAuthentication } = await import("@simplewebauthn/browser");
  const begun = await post<{ options: Parameters<typeof startAuthentication>[0]["optionsJSON"] }>(
    "/console/api/passkeys/begin",
  );
  const response = await startAuthentication({ optionsJSON: begun.options });
  return await post("/console/api/passkeys/sign_in", { response });
}
